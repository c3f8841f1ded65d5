"""Charts that several pages show."""

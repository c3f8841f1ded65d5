"""Sleep of the computer: one platform per file."""

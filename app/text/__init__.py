"""Every word a person reads, for window and command line."""

"""What the machine is doing: one sensor a file, each `read()` gives a frozen value."""

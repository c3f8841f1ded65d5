"""What the machine is doing: one sensor per file; each `read()` returns a frozen value."""

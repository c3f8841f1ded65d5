"""Sleep of the computer: one system a file."""

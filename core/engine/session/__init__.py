"""A session's life: its child processes and their commands."""

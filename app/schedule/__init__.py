"""The schedule page."""

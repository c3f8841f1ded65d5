"""The limits page."""

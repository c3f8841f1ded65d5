"""The log page."""

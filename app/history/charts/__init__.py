"""Charts of the history page."""

"""The projects page."""

"""Averaging: the collaborative step and the all-reduce."""

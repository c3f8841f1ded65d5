"""Rounds beside the training, and whether they are worth it."""

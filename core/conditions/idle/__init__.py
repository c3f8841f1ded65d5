"""Idle time of mouse and keyboard: one platform per file."""

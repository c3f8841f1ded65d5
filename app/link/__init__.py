"""The window's connection to the engine."""

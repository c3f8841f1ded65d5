"""The decisions: pure functions of what is so."""

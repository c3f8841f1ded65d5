"""history: what was given, as tables and as files."""

"""Values that people type, and how they are written so that they read back. No Qt."""

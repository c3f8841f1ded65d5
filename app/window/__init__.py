"""The window and the tray icon, and how they start and end."""

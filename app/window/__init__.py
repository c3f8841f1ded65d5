"""The window, the tray icon, and how they begin and end."""

"""What binds the app to the desktop: tray host, notifications, start at login, language, files."""

"""The engine's client, the profile folder and the system's keyring."""

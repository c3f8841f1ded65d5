"""What the engine knows of projects: the list, what is fetched for them, and the secrets."""

"""For how long nobody has used mouse and keyboard: one source a file."""

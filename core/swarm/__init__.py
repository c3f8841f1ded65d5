"""What is added to hivemind, one concern a file."""

"""What keeps processes and files in order: nothing of it knows what Idlehive is for."""

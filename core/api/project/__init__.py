"""A project: its manifest, how one is read, and the commands about the list of projects."""

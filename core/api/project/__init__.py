"""A project: its manifest, and the commands on the list of projects."""

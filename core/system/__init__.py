"""Processes and files of the operating system: nothing here knows what Idlehive is for."""

"""The data of a project: fetched, checked, kept under a ceiling, and read."""

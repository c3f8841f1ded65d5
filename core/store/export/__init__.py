"""The record as a file: export and import."""

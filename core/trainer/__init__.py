"""The trainer process: run as `python -m core.trainer`, imported by nobody."""

"""Figures for docs/measurements.md: one script a figure, run as `python -m benchmarks.NAME`."""

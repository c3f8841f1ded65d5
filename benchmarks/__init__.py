"""A script per measured figure; docs/measurements.md has the figures."""

import os

# Installed, the program has its bytecode; compiling it takes a third of the time of a start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

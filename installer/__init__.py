"""Set-up from a checkout: `python3 -m installer run|test|setup`. Standard library only."""

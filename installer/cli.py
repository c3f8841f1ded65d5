"""The verbs of `python3 -m installer`."""

import sys


def main(arguments: list[str]) -> int:
    """Run the verb named first in `arguments`; returns the exit status."""
    sys.stderr.write("installer: nothing to do yet for " + " ".join(arguments) + "\n")
    return 2

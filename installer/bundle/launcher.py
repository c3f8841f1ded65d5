#!/usr/bin/python3 -I
"""Starts Idlehive from the folder in which this file lies, with the system's Python or another one that is new enough.

It must parse on older Pythons too, so that they can look for a newer one.
"""

import os
import runpy
import shutil
import sys

SUPPORTED = [(3, minor) for minor in (11, 12, 13, 14)]
FIRST = (3, 11, 0, "final")
"""torch does not load with the candidate 3.11.0rc1 of Ubuntu 22.04."""


def main() -> None:
    here = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - as light as it can be
    if sys.version_info[:2] not in SUPPORTED or sys.version_info < FIRST:
        start_with_another_python(__file__)
    # Children find the libraries by this variable; what a person's own environment holds must not mix with them.
    os.environ["PYTHONPATH"] = os.path.join(here, "lib")  # noqa: PTH118
    os.environ["PYTHONNOUSERSITE"] = "1"
    sys.path[:0] = [here, os.environ["PYTHONPATH"]]
    runpy.run_module("app", run_name="__main__")


def start_with_another_python(launcher: str) -> None:
    for number in reversed(SUPPORTED):
        found = shutil.which("python%d.%d" % number)  # noqa: UP031
        if found and number != sys.version_info[:2]:
            os.execv(found, [found, "-I", launcher, *sys.argv[1:]])
    sys.exit("Idlehive needs a released Python from 3.11 to 3.14, and this system has none. Install one and try again.")


if __name__ == "__main__":
    main()

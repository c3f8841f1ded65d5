#!/bin/sh
"""exec" "$(dirname "$(readlink -f "$0")")/python/bin/python3" -I "$0" "$@"
" """

"""Starts Idlehive from the folder in which this file lies, with the Python that lies there.

To a shell the first lines are a command, to Python a string. Packages for macOS and Windows name their Python.
"""

import importlib  # noqa: E402 - behind what a shell reads
import os  # noqa: E402
import runpy  # noqa: E402
import sys  # noqa: E402


def main() -> None:
    here = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - as light as it can be
    # Children find the libraries by this variable; what a person's own environment holds must not mix with them.
    os.environ["PYTHONPATH"] = os.path.join(here, "lib")  # noqa: PTH118
    os.environ["PYTHONNOUSERSITE"] = "1"
    os.environ.pop("PYTHONHOME", None)
    sys.path[:0] = [here, os.environ["PYTHONPATH"]]
    importlib.import_module("core")  # continues with the Python that lies here, if another one runs this
    runpy.run_module("app", run_name="__main__")


if __name__ == "__main__":
    main()

"""The core: everything that is not a front end. Never imports Qt.

A package for Linux brings the Python that its libraries are built for. What was started by a build that used another
one starts its new version with that: such a process continues here with the package's, before it loads a library.
"""

import os
import sys
from pathlib import Path

_PYTHON = Path(__file__).resolve().parents[1] / "python" / "bin" / "python3"

# The packages for macOS start a copy of it, which is part of their signature.
if sys.platform == "linux" and _PYTHON.exists() and not _PYTHON.samefile(sys.executable):
    os.execv(_PYTHON, [str(_PYTHON), *sys.orig_argv[1:]])

"""The Python that Linux packages carry: Debian 12's, whose programs run from any folder.

It is built for glibc 2.35 and uses libraries that every system since Ubuntu 22.04 has (OpenSSL 3, libffi 8, SQLite). So
volunteers run the Python that the tests run with, whatever their system brings.
"""

import re
import shutil
import tempfile
from pathlib import Path

from installer.bundle import debian_packages
from installer.bundle.target import PYTHON
from installer.checkout import Checkout

LOCK = Path(__file__).with_name("python.lock")
LIBRARIES = (
    "libbz2-1.0", "libexpat1", "libffi8", "liblzma5", "libsqlite3-0 (>= 3.37)", "libssl3 (>= 3.0) | libssl3t64",
    "libuuid1", "zlib1g",
)  # fmt: skip
"""Debian's names of the packages that its modules load. The record's tables ask for SQLite 3.37."""
_PACKAGES = (f"python{PYTHON}-minimal", f"libpython{PYTHON}-minimal", f"libpython{PYTHON}-stdlib")
_LEFT_OUT = re.compile(
    r"(test|pydoc_data|lib2to3|idlelib|turtledemo|curses|dbm|config-[^/]*)/|turtle\.py$|sitecustomize\.py$"
    r"|EXTERNALLY-MANAGED$"
    r"|lib-dynload/(_?test|_?xx|_ctypes_test|_curses|_crypt|_dbm|nis\.|ossaudiodev|readline)"
)
"""Tests, documents, and modules of libraries that are not asked for; Debian's customisation is a link into /etc."""


def add(checkout: Checkout, root: Path) -> None:
    """Put Python into the folder `python` of the package's `root`. Raises SetUpFailed."""
    with tempfile.TemporaryDirectory(dir=root) as folder:
        debian_packages.unpack(checkout, LOCK, Path(folder))
        _pick(Path(folder) / "usr", root / "python")


def renew(checkout: Checkout) -> None:
    """Lock what this machine's apt has now. Raises SetUpFailed."""
    debian_packages.renew(checkout, LOCK, _PACKAGES)


def _pick(debian: Path, python: Path) -> None:
    (python / "bin").mkdir(parents=True)
    shutil.move(debian / "bin" / f"python{PYTHON}", python / "bin" / "python3")
    library = debian / "lib" / f"python{PYTHON}"
    for path in sorted(path for path in library.rglob("*") if not path.is_dir() or path.is_symlink()):
        if not _LEFT_OUT.match(path.relative_to(library).as_posix()):
            target = python / "lib" / library.name / path.relative_to(library)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, target)
    shutil.copyfile(debian / f"share/doc/libpython{PYTHON}-minimal/copyright", python / "LICENSE")

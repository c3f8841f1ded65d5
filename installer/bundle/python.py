"""The Python that Linux packages carry: Debian 12's, whose programs run from any folder.

It is built for glibc 2.35 and uses libraries that every system since Ubuntu 22.04 has (OpenSSL 3, libffi 8, SQLite). So
volunteers run the Python that the tests run with, whatever their system brings.
"""

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from installer.bundle.target import PYTHON
from installer.checkout import Checkout
from installer.failure import CommandFailed, SetUpFailed
from installer.programs import Programs

LOCK = Path(__file__).with_name("python.lock")
LIBRARIES = (
    "libbz2-1.0", "libexpat1", "libffi8", "liblzma5", "libsqlite3-0 (>= 3.37)", "libssl3 (>= 3.0) | libssl3t64",
    "libuuid1", "zlib1g",
)  # fmt: skip
"""Debian's names of the packages that its modules load. The record's tables ask for SQLite 3.37."""
_PACKAGES = (f"python{PYTHON}-minimal", f"libpython{PYTHON}-minimal", f"libpython{PYTHON}-stdlib")
_HEADER = (
    "# Written by `python3 -m installer lock`: Debian's packages of Python, with their versions and hashes (SHA-256).\n"
)
_LEFT_OUT = re.compile(
    r"(test|pydoc_data|lib2to3|idlelib|turtledemo|curses|dbm|config-[^/]*)/|turtle\.py$|sitecustomize\.py$"
    r"|EXTERNALLY-MANAGED$"
    r"|lib-dynload/(_?test|_?xx|_ctypes_test|_curses|_crypt|_dbm|nis\.|ossaudiodev|readline)"
)
"""Tests, documents, and modules of libraries that are not asked for; Debian's customisation is a link into /etc."""


def add(checkout: Checkout, root: Path) -> None:
    """Put Python into the folder `python` of the package's `root`. Raises SetUpFailed."""
    with tempfile.TemporaryDirectory(dir=root) as place:
        folder = Path(place)
        for name, version, digest in _locked(LOCK.read_text(encoding="utf-8")):
            package = _fetch(checkout, folder, f"{name}={version}")
            if hashlib.sha256(package.read_bytes()).hexdigest() != digest:
                raise SetUpFailed(f"{package.name} is not the file that {LOCK.name} names.")
            Programs(checkout.log, checkout.root).run(["dpkg-deb", "-x", str(package), place])
        _pick(folder / "usr", root / "python")


def renew(checkout: Checkout) -> None:
    """Lock what this machine's apt has now. Raises SetUpFailed."""
    with tempfile.TemporaryDirectory() as place:
        found = [_fetch(checkout, Path(place), name) for name in _PACKAGES]
        lines = [_line(path) for path in found]
    LOCK.write_text(_HEADER + "".join(lines), encoding="utf-8")


def _locked(text: str) -> Iterator[tuple[str, ...]]:
    """Name, version and hash of each package."""
    return (tuple(line.split()) for line in text.splitlines() if not line.startswith("#"))


def _line(package: Path) -> str:
    name, version, _ = package.name.replace("%3a", ":").split("_")
    return f"{name} {version} {hashlib.sha256(package.read_bytes()).hexdigest()}\n"


def _fetch(checkout: Checkout, folder: Path, wanted: str) -> Path:
    """Debian's mirrors keep only the latest versions; apt checks who has signed them."""
    command = ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", wanted]
    try:
        Programs(checkout.log, folder).run(command)
    except CommandFailed as failed:
        raise SetUpFailed(
            f"apt does not have {wanted}, which packages carry. Try again after `apt-get update`. If Debian 12 has "
            "another version now, `python3 -m installer lock` locks that; other systems need Debian 12 among apt's "
            f"sources.\nDetails: {checkout.log}"
        ) from failed
    return next(folder.glob(f"{wanted.partition('=')[0]}_*.deb"))


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

"""Debian's packages whose files are carried: locked by version and hash, fetched by apt, unpacked and not installed."""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from installer.checkout import Checkout
from installer.failure import CommandFailed, SetUpFailed
from installer.programs import Programs

_HEADER = "# Written by `python3 -m installer lock`: Debian's packages, with their versions and hashes (SHA-256).\n"


def unpack(checkout: Checkout, lock: Path, root: Path) -> None:
    """Put the files of all packages of a lock into the folder `root`. Raises SetUpFailed."""
    with tempfile.TemporaryDirectory(dir=root) as place:
        for name, version, digest in _locked(lock.read_text(encoding="utf-8")):
            package = fetch(checkout, Path(place), f"{name}={version}")
            if hashlib.sha256(package.read_bytes()).hexdigest() != digest:
                raise SetUpFailed(f"{package.name} is not the file that {lock.name} names.")
            Programs(checkout.log, checkout.root).run(["dpkg-deb", "-x", str(package), str(root)])


def renew(checkout: Checkout, lock: Path, names: Iterable[str]) -> None:
    """Lock what this machine's apt has now. Raises SetUpFailed."""
    with tempfile.TemporaryDirectory() as place:
        lines = [_line(fetch(checkout, Path(place), name)) for name in names]
    lock.write_text(_HEADER + "".join(lines), encoding="utf-8")


def fetch(checkout: Checkout, folder: Path, wanted: str) -> Path:
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


def _locked(text: str) -> Iterator[tuple[str, ...]]:
    """Name, version and hash of each package."""
    return (tuple(line.split()) for line in text.splitlines() if not line.startswith("#"))


def _line(package: Path) -> str:
    name, version, _ = package.name.replace("%3a", ":").split("_")
    return f"{name} {version} {hashlib.sha256(package.read_bytes()).hexdigest()}\n"

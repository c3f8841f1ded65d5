"""The portable build: the payload as one archive that runs from any folder."""

import lzma
import shutil
import tarfile
from pathlib import Path

from installer.bundle import deb, payload
from installer.bundle.target import ARCHITECTURE, GLIBC
from installer.checkout import Checkout

README = f"""Idlehive, portable

Start it with ./idlehive, in a terminal or by a double click. It needs glibc {GLIBC} and OpenSSL 3.
Everything it stores is in ~/.local/share/idlehive, or in the folder that IDLEHIVE_HOME names.
To remove it: ./idlehive remove-everything, then delete this folder.
"""


def build(checkout: Checkout, out: Path, version: str, built: int) -> Path:
    """Build the archive into the folder `out` and return its path. The same inputs give the same bytes."""
    name = f"idlehive-{version}-linux-{ARCHITECTURE}"
    archive, root = out / f"{name}.tar.xz", out / name
    shutil.rmtree(root, ignore_errors=True)
    payload.make(checkout, root, "portable", version)
    (root / "README").write_text(README, encoding="utf-8")
    deb.set_times(root, built)
    with lzma.open(archive, "wb", preset=6) as compressed, tarfile.open(fileobj=compressed, mode="w") as tar:
        for path in [root, *sorted(root.rglob("*"))]:
            tar.add(path, path.relative_to(out).as_posix(), recursive=False, filter=_without_owner)
    shutil.rmtree(root)
    return archive


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member

"""The root file system for sessions on Windows: what they need of Debian 12, and the portable build without a window.

WSL asks of an image for /etc and /bin/sh (`src/linux/init/main.cpp` in its sources). None of the packages' scripts
runs: what they would do that matters is done here. So the same packages give the same bytes, and nobody has to be root.
"""

import shutil
import tarfile
from pathlib import Path

from installer.bundle import deb, debian_packages, payload
from installer.checkout import Checkout

LOCK = Path(__file__).with_name("root_image.lock")
HOME = "opt/idlehive"
"""Of the portable build in it."""
PACKAGES = (
    "base-files", "ca-certificates", "coreutils", "dash", "libacl1", "libattr1", "libbz2-1.0", "libc-bin", "libc6",
    "libexpat1", "libffi8", "libgcc-s1", "libgmp10", "liblzma5", "libpcre2-8-0", "libselinux1", "libsqlite3-0",
    "libssl3", "libstdc++6", "libuuid1", "tar", "zlib1g",
)  # fmt: skip
"""A shell, what the set-up runs, and what these, Python and torch load."""
_FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
    "etc/group": "root:x:0:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    # There is no fstab, and no `mount`; sessions start no programs of Windows.
    "etc/wsl.conf": "[automount]\nmountFsTab = false\n[interop]\nenabled = false\nappendWindowsPath = false\n",
}
_FOLDERS = ("home", "mnt", "opt", "proc", "root", "run", "sys", "tmp", "var/lib", "var/tmp")
_CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
_LEFT_OUT = (
    "usr/lib/x86_64-linux-gnu/gconv", "usr/share/bash-completion", "usr/share/info", "usr/share/lintian",
    "usr/share/locale", "usr/share/man",
)  # fmt: skip


def build(checkout: Checkout, out: Path, version: str, built: int) -> Path:
    """Write the archive into the folder `out` and return its path; `built` is the time that all files get."""
    archive, root = out / "root.tar", out / "root.tree"
    shutil.rmtree(root, ignore_errors=True)
    (root / HOME).parent.mkdir(parents=True)
    payload.make(checkout, root / HOME, "portable", version)
    for name in ("PySide6", "shiboken6"):
        shutil.rmtree(root / HOME / "lib" / name, ignore_errors=True)
    deb.set_times(root / HOME, built)
    add_debian(checkout, root)
    _pack(root, archive, built)
    shutil.rmtree(root)
    return archive


def renew(checkout: Checkout) -> None:
    """Lock what this machine's apt has now. Raises SetUpFailed."""
    debian_packages.renew(checkout, LOCK, PACKAGES)


def add_debian(checkout: Checkout, root: Path) -> None:
    """Unpack the packages into `root`, and write what their scripts would. Raises SetUpFailed."""
    debian_packages.unpack(checkout, LOCK, root)
    for name in _LEFT_OUT:
        shutil.rmtree(root / name, ignore_errors=True)
    for path in (root / "usr/share/doc").rglob("*"):
        if path.is_file() and path.name != "copyright":
            path.unlink()
    for name in _FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, text in _FILES.items():
        (root / name).write_text(text, encoding="utf-8")
        (root / name).chmod(0o644)
    trusted = sorted((root / "usr/share/ca-certificates").rglob("*.crt"))
    (root / _CERTIFICATES).parent.mkdir(parents=True, exist_ok=True)
    (root / _CERTIFICATES).write_bytes(b"".join(path.read_bytes() for path in trusted))
    (root / _CERTIFICATES).chmod(0o644)
    (root / "usr/lib/ssl").mkdir(parents=True, exist_ok=True)
    (root / "usr/lib/ssl/cert.pem").symlink_to(f"/{_CERTIFICATES}")  # where OpenSSL looks


def _pack(root: Path, archive: Path, built: int) -> None:
    def as_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = built
        if member.isdir():
            member.mode = 0o1777 if member.name in ("tmp", "var/tmp") else 0o755  # the builder's umask made some
        return member

    with tarfile.open(archive, "w") as tar:
        for path in sorted(root.rglob("*")):
            tar.add(path, path.relative_to(root).as_posix(), recursive=False, filter=as_root)

"""The Debian package: the payload in /usr/lib/idlehive, what desktop and shells read, and the maintainer scripts."""

import gzip
import hashlib
import os
import shutil
import subprocess
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from installer.bundle import desktop, payload, python
from installer.bundle.target import ARCHITECTURE, GLIBC
from installer.checkout import Checkout
from installer.programs import Programs
from installer.system_packages import FONT_PACKAGE, QT_LIBRARIES

HOME = "usr/lib/idlehive"
_MAINTAINER = "The Idlehive contributors <maintainers@idlehive.invalid>"
_SCRIPTS = Path(__file__).with_name("debian")
_WAYLAND_LIBRARIES = ("libwayland-cursor0", "libwayland-egl1")
"""Of Qt's Wayland plugins; without them Qt takes X11."""
_COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/idlehive",
    "zsh": "usr/share/zsh/vendor-completions/_idlehive",
    "fish": "usr/share/fish/vendor_completions.d/idlehive.fish",
}


def build(checkout: Checkout, out: Path, version: str, built: int) -> Path:
    """Build the package into the folder `out` and return its path. The same inputs give the same bytes.

    `built` is the time that all files get, UTC seconds. Raises CommandFailed.
    """
    package = out / f"idlehive_{version}_{ARCHITECTURE}.deb"
    root = out / f"{package.stem}.tree"
    shutil.rmtree(root, ignore_errors=True)
    payload.make(checkout, root / HOME, "deb", version)
    _add_system_files(checkout, root, version, built)
    _add_control(root, version)
    set_times(root, built)
    programs = Programs(checkout.log, checkout.root)
    programs.run(
        ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "-b", str(root), str(package)],
        {"SOURCE_DATE_EPOCH": str(built)},
    )
    shutil.rmtree(root)
    return package


def _add_system_files(checkout: Checkout, root: Path, version: str, built: int) -> None:
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "idlehive").symlink_to("../lib/idlehive/idlehive")
    _write(root / "usr/share/applications/idlehive.desktop", desktop.entry("idlehive"))
    _write(root / f"usr/share/metainfo/{desktop.COMPONENT}.metainfo.xml", desktop.metainfo(version, built))
    _write(root / "usr/share/mime/packages/idlehive.xml", desktop.file_type())
    _write(
        root / "usr/share/icons/hicolor/scalable/apps/idlehive.svg", _read(checkout.root / "resources/icons/logo.svg")
    )
    for shell, path in _COMPLETIONS.items():
        _write(root / path, _reference(checkout, shell))
    _compress(root / "usr/share/man/man1/idlehive.1.gz", _reference(checkout, "man"))
    documents = root / "usr/share/doc/idlehive"
    _compress(documents / "changelog.gz", _changelog(version, built))
    _compress(documents / "NEWS.md.gz", _read(checkout.root / "CHANGELOG.md"))
    _write(documents / "copyright", _copyright())
    _write(root / "usr/share/lintian/overrides/idlehive", _read(_SCRIPTS / "lintian-overrides"))


def _reference(checkout: Checkout, form: str) -> str:
    """What the command line says of itself; help is as wide as its terminal."""
    command = [str(checkout.python), "-m", "app.cli.installation.reference", form]
    environment = {**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        command, cwd=checkout.root, env=environment, check=True, capture_output=True, text=True
    ).stdout


def _add_control(root: Path, version: str) -> None:
    control = root / "DEBIAN"
    _write(control / "control", control_text(version, _kilobytes(root)))
    files = sorted(
        path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and control not in path.parents
    )
    _write(control / "md5sums", "".join(f"{_md5(path)}  {path.relative_to(root)}\n" for path in files))
    common = _read(_SCRIPTS / "common.sh")
    for name in ("postinst", "prerm", "postrm"):
        _write(control / name, "#!/bin/sh\n" + common + _read(_SCRIPTS / f"{name}.sh"))
        (control / name).chmod(0o755)


def control_text(version: str, kilobytes: int) -> str:
    """The control file. A screen is recommended: on a server the command line does without Qt's libraries."""
    screen = sorted({*QT_LIBRARIES.values(), *_WAYLAND_LIBRARIES, FONT_PACKAGE})
    return f"""Package: idlehive
Version: {version}
Architecture: {ARCHITECTURE}
Maintainer: {_MAINTAINER}
Installed-Size: {kilobytes}
Depends: libc6 (>= {GLIBC}), libstdc++6, ca-certificates, {", ".join(python.LIBRARIES)}
Recommends: {", ".join(screen)}
Suggests: gnome-keyring, libxss1
Section: science
Priority: optional
Description: give your computer's idle time to open deep-learning collaborations
 Idlehive trains models that many volunteers train together over ordinary home
 internet connections. It uses only the hours, the processor, the graphics card
 and the network that you allow, and keeps a record of what you gave.
 .
 The libraries that it trains with are downloaded at the first start, into your
 own folder: 280 MB, or 2.6 GB where there is an NVIDIA graphics card.
"""


def set_times(root: Path, seconds: int) -> None:
    """Give all files and folders the same time and the usual rights, whatever the builder's umask is."""
    for path in sorted(root.rglob("*"), reverse=True):
        if not path.is_symlink():
            is_program = path.stat().st_mode & 0o100 and not path.suffix  # wheels mark libraries as programs too
            path.chmod(0o755 if path.is_dir() or is_program else 0o644)
        os.utime(path, (seconds, seconds), follow_symlinks=False)
    root.chmod(0o755)
    os.utime(root, (seconds, seconds))


def _kilobytes(root: Path) -> int:
    """As dpkg counts: files in whole kilobytes, everything else as one."""
    return sum(
        -(-path.lstat().st_size // 1024) if path.is_file() and not path.is_symlink() else 1 for path in root.rglob("*")
    )


def _changelog(version: str, built: int) -> str:
    day = format_datetime(datetime.fromtimestamp(built, UTC))
    return (
        f"idlehive ({version}) unstable; urgency=medium\n\n  * What is new: NEWS.md.gz.\n\n -- {_MAINTAINER}  {day}\n"
    )


def _copyright() -> str:
    return """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Idlehive

Files: *
Copyright: 2026 The Idlehive contributors
License: Apache-2.0
 On Debian systems, the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.

Files: usr/lib/idlehive/python/*
Copyright: 1991-2023 the Python Software Foundation and others
License: PSF-2
 Python, as Debian 12 has it: /usr/lib/idlehive/python/LICENSE.

Files: usr/lib/idlehive/lib/*
Copyright: 2026 their authors, as named in the *.dist-info folders beside them
License: as stated in the *.dist-info folders
 Each library is under the licence that its METADATA file and the files beside
 it state. Qt for Python (PySide6, shiboken6) and Qt are under the LGPL 3, see
 /usr/share/common-licenses/LGPL-3; their libraries may be replaced in place.
"""


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _compress(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))

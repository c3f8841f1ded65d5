"""System packages that Qt, the checks and the set-up itself need: which are missing, and how to install them."""

import ctypes
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from installer.failure import CommandFailed, SetUpFailed

# System libraries that Qt and its X11 plugin in the PySide6 wheel load, and the Debian package of each.
QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libbrotlicommon.so.1": "libbrotli1",
    "libbrotlidec.so.1": "libbrotli1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
TEST_PROGRAMS = {
    "Xvfb": "xvfb",
    "appstreamcli": "appstream",
    "chromium": "chromium",
    "dbus-run-session": "dbus",
    "desktop-file-validate": "desktop-file-utils",
    "dex": "dex",
    "dunst": "dunst",
    "fish": "fish",
    "import": "imagemagick",
    "lintian": "lintian",
    "makensis": "nsis",
    "man": "man-db",
    "mmdebstrap": "mmdebstrap",
    "miniupnpd": "miniupnpd-nftables",
    "nft": "nftables",
    "openbox": "openbox",
    "pdftoppm": "poppler-utils",
    "pdftotext": "poppler-utils",
    "plistutil": "libplist-utils",
    "ssh": "openssh-client",
    "sshd": "openssh-server",
    "tint2": "tint2",
    "xdotool": "xdotool",
    "xfce4-panel": "xfce4-panel",
    "xfconf-query": "xfconf",
    "xwininfo": "x11-utils",
    "zsh": "zsh",
}
# Fonts of desktops and scripts, in which pages are checked: how the names of their files begin, and the Debian package
# of each.
TEST_FONTS = {
    "Cantarell": "fonts-cantarell",
    "DejaVuSans": "fonts-dejavu-core",
    "LiberationSans": "fonts-liberation2",
    "NotoSans-": "fonts-noto-core",
    "NotoSansBengali": "fonts-noto-core",
    "NotoSansCJK": "fonts-noto-cjk",
}
# Mock desktop services. Installed for the system's Python, so no import here can find it.
DBUS_MOCK = (Path("/usr/lib/python3/dist-packages/dbusmock"), "python3-dbusmock")
FONT_PACKAGE = "fonts-dejavu-core"
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")


def missing(parts: Iterable[str]) -> list[str]:
    """Debian names of the packages that `parts` ("screen", "development") need and this Linux machine lacks."""
    packages = [] if importlib.util.find_spec("ensurepip") else [_venv_package()]
    if "screen" in parts:
        packages += missing_libraries(QT_LIBRARIES, _loads)
        packages += [] if _has_fonts() else [FONT_PACKAGE]
    if "development" in parts:
        packages += [package for program, package in TEST_PROGRAMS.items() if not _is_installed(program)]
        packages += [package for beginning, package in TEST_FONTS.items() if not _has_fonts(beginning)]
        packages += [] if DBUS_MOCK[0].exists() else [DBUS_MOCK[1]]
    return sorted(set(packages))


def missing_libraries(libraries: dict[str, str], loads: Callable[[str], bool]) -> list[str]:
    """The packages of those `libraries` that do not load."""
    return [package for soname, package in libraries.items() if not loads(soname)]


def command_line(packages: list[str]) -> str:
    """The command that installs `packages`."""
    return "sudo apt-get install " + " ".join(packages)


def is_debian_like(os_release: Mapping[str, str]) -> bool:
    """Whether the facts of an os-release file are those of Debian, Ubuntu or a system made from one of them."""
    families = f"{os_release.get('ID', '')} {os_release.get('ID_LIKE', '')}".split()
    return not {"debian", "ubuntu"}.isdisjoint(families)


def provide(parts: Iterable[str], run: Callable[[list[str]], object], say: Callable[[str], None]) -> None:
    """Install missing packages as root, or raise SetUpFailed with the command to type.

    `run` starts a program and raises CommandFailed, `say` shows a line. On other Linux distributions it
    prints the Debian names of the missing packages, and set-up continues.
    """
    packages = missing(parts) if platform.system() == "Linux" else []
    if not packages:
        return
    if not _has_apt():
        say(f"Missing on this system, by their Debian names: {' '.join(packages)}. Continuing without them.")
    elif os.geteuid() == 0:
        say(f"Installing system packages: {' '.join(packages)}")
        _install(packages, run)
    else:
        line = command_line(packages)
        raise SetUpFailed(f"Some system packages are missing. Install them, then run this again:\n  {line}")


def _install(packages: list[str], run: Callable[[list[str]], object]) -> None:
    install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", *packages]
    try:
        run(install)
    except CommandFailed:  # a new machine has no package lists, an old one has outdated lists
        run(["apt-get", "update", "-q"])
        run(install)


def _is_installed(program: str) -> bool:
    # Programs for root are on root's path alone.
    return shutil.which(program) is not None or shutil.which(program, path="/usr/sbin:/sbin") is not None


def _has_apt() -> bool:
    try:
        os_release = platform.freedesktop_os_release()
    except OSError:
        return False
    return is_debian_like(os_release) and shutil.which("apt-get") is not None


def _venv_package() -> str:
    """Debian's default Python is named python3, other versions have their number."""
    own = Path("/usr/bin/python3").resolve() == Path(sys.executable).resolve()
    return "python3-venv" if own else f"python3.{sys.version_info.minor}-venv"


def _loads(soname: str) -> bool:
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def _has_fonts(beginning: str = "") -> bool:
    folders = [Path(folder).expanduser() for folder in _FONT_FOLDERS]
    return any(next(folder.rglob(f"{beginning}*.[to]t[cf]"), None) for folder in folders)

"""The installer for Windows: the payload and a Python, compiled by makensis on any system."""

import shutil
from pathlib import Path

from installer.bundle import native, payload
from installer.bundle.deb import set_times
from installer.bundle.locks import locks
from installer.bundle.target import WINDOWS
from installer.bundle.windows import qt, root_image
from installer.checkout import Checkout
from installer.programs import Programs

_SCRIPT = Path(__file__).with_name("idlehive.nsi")
_COMMAND_LINE = '@"%~dp0python\\python.exe" -I "%~dp0idlehive" %*\r\n'


def build(checkout: Checkout, out: Path, version: str, built: int) -> Path:
    """Build the installer into the folder `out` and return its path."""
    root = out / "windows"
    shutil.rmtree(root, ignore_errors=True)
    tree(checkout, root, version)
    native.add_python(checkout, WINDOWS, root / "python")
    (root / "wsl").mkdir()
    root_image.build(checkout, root / "wsl", version, built)
    set_times(root, built)
    made = compile_installer(checkout, root, out, version)
    shutil.rmtree(root)
    return made


def tree(checkout: Checkout, root: Path, version: str) -> None:
    """What is installed, without Python."""
    payload.make(checkout, root, "exe", version, _install_libraries)
    # Sessions run in WSL, with what uv installs there.
    shutil.rmtree(root / "bin")
    for lock in (root / "resources/runtime").glob("*.lock"):
        lock.unlink()
    (root / "idlehive.cmd").write_text(_COMMAND_LINE, encoding="ascii", newline="")
    native.write_icon(checkout, root / "idlehive.ico")


def _install_libraries(checkout: Checkout, root: Path) -> None:
    native.install_libraries(checkout, root, target=WINDOWS, lock=locks(checkout).windows_app)
    payload.trim(root / "lib", qt.is_needed)


def compile_installer(checkout: Checkout, root: Path, out: Path, version: str) -> Path:
    """Compile the script for the files in `root`. Raises CommandFailed."""
    made = out / f"idlehive-{version}-windows-amd64.exe"
    defined = {"VERSION": version, "PAYLOAD": str(root), "OUT": str(made)}
    options = [f"-D{name}={value}" for name, value in defined.items()]
    Programs(checkout.log, checkout.root).run(["makensis", "-V2", "-WX", *options, str(_SCRIPT)])
    return made

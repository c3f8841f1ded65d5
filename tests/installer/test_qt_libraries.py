"""The table of Qt's system libraries, held against the wheel that is installed."""

import importlib.util
import platform
import subprocess
from pathlib import Path

import pytest

from installer.system_packages import QT_LIBRARIES

# Every Linux that runs a Python has these: the C and C++ run-time.
RUN_TIME = ("ld-linux", "libc.", "libdl.", "libgcc_s.", "libm.", "libpthread.", "libresolv.", "librt.", "libstdc++.")
QT_MODULES = ("Core", "DBus", "Gui", "Network", "Svg", "Test", "Widgets")


def _loaded_by(file: str) -> dict[str, str]:
    """Names of the libraries that `file` loads, with those that they load in turn, and where each is found."""
    listing = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
    pairs = (line.strip().partition(" => ") for line in listing.splitlines() if " => " in line)
    return {name: place.rpartition(" (")[0] or place for name, _, place in pairs}


@pytest.mark.skipif(platform.system() != "Linux", reason="ldd and Debian's packages are Linux's")
def test_the_table_names_what_qt_loads_and_nothing_else() -> None:
    spec = importlib.util.find_spec("PySide6")
    assert spec
    assert spec.origin
    wheel = Path(spec.origin).parent
    files = [wheel / f"Qt{module}.abi3.so" for module in QT_MODULES]
    files += [wheel / "Qt" / "plugins" / "platforms" / f"{name}.so" for name in ("libqxcb", "libqoffscreen")]
    files += (wheel / "Qt" / "plugins" / "xcbglintegrations").glob("*.so")

    loaded: dict[str, str] = {}
    for file in files:
        loaded |= _loaded_by(str(file))
    from_system = {name: place for name, place in loaded.items() if str(wheel.parent) not in place}
    brought_by_others = {name for soname in QT_LIBRARIES for name in _loaded_by(from_system[soname])}

    unnamed = from_system.keys() - QT_LIBRARIES.keys() - brought_by_others
    assert {name for name in unnamed if not name.startswith(RUN_TIME)} == set()

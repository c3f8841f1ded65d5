"""The tree that every package carries.

idlehive            starts the app; makes the rest importable
python/             Python itself (in packages for macOS and Windows, too, from elsewhere)
app/ core/ resources/
lib/                the libraries of `app.lock`
bin/uv              installs the compute runtime
package.json        kind of the package
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from installer.bundle import native, python
from installer.bundle.locks import locks
from installer.bundle.target import LINUX
from installer.checkout import Checkout

_SOURCES = ("app", "core", "resources")
_LEFT_OUT = ("__pycache__", ".gitignore", "make_*.py", "publish.py", "hugging_face.py", "*.tar", "*.po", "*.pot")
QT_MODULES = ("QtCore", "QtDBus", "QtGui", "QtNetwork", "QtSvg", "QtWidgets")
_QT_LIBRARIES = (
    "libQt6Core", "libQt6DBus", "libQt6Gui", "libQt6Network", "libQt6OpenGL", "libQt6Svg",
    "libQt6WaylandClient", "libQt6Widgets",
    "libQt6WlShellIntegration", "libQt6XcbQpa", "libicudata", "libicui18n", "libicuuc",
)  # fmt: skip
_QT_PLUGINS = (
    "iconengines", "imageformats/libqgif", "imageformats/libqico", "imageformats/libqjpeg", "imageformats/libqsvg",
    "imageformats/libqwebp", "platforminputcontexts/libcompose", "platforminputcontexts/libibus",
    "platforms/libqminimal.", "platforms/libqoffscreen", "platforms/libqwayland", "platforms/libqxcb",
    "platformthemes", "tls",
    "wayland-decoration-client", "wayland-graphics-integration-client", "wayland-shell-integration/libxdg-shell",
    "xcbglintegrations",
)  # fmt: skip
LANGUAGES = tuple(sorted(folder.name for folder in Path(__file__).parents[2].glob("resources/locale/*")))
TRANSLATIONS = frozenset(f"qtbase_{language}.qm" for language in LANGUAGES)
"""What Qt itself says."""


def make(
    checkout: Checkout, root: Path, kind: str, version: str, install: Callable[[Checkout, Path], None] | None = None
) -> None:
    """Fill the folder `root`, which does not exist; `install` brings libraries and uv. Raises CommandFailed."""
    root.mkdir(parents=True)
    copy_sources(checkout.root, root)
    (install or install_libraries)(checkout, root)
    publisher = checkout.pyproject["tool"]["idlehive"]["publisher"]
    about = {"kind": kind, "publisher": publisher} if publisher["keys"] else {"kind": kind}
    (root / "package.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
    _add_metadata(checkout, root / "lib", version)
    shutil.copyfile(Path(__file__).with_name("launcher.py"), root / "idlehive")
    (root / "idlehive").chmod(0o755)


def copy_sources(checkout: Path, root: Path) -> None:
    """What the program reads; not what makes its files, nor what git ignores."""
    for name in _SOURCES:
        shutil.copytree(checkout / name, root / name, ignore=shutil.ignore_patterns(*_LEFT_OUT))


def install_libraries(checkout: Checkout, root: Path) -> None:
    """Bring what `app.lock` names, and a Python. Raises CommandFailed, SetUpFailed."""
    native.install_libraries(checkout, root, target=LINUX, lock=locks(checkout).app)
    trim(root / "lib")
    python.add(checkout, root)


def _add_metadata(checkout: Checkout, library: Path, version: str) -> None:
    """What Python's importlib.metadata says of Idlehive."""
    about = library / f"idlehive-{version}.dist-info"
    about.mkdir()
    lines = ["Metadata-Version: 2.4", "Name: idlehive", f"Version: {version}", "License-Expression: Apache-2.0"]
    lines += [f"Requires-Dist: {pin}" for pin in checkout.pyproject["project"]["dependencies"]]
    (about / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")


def of_qt(path: str) -> bool:
    """Whether a file of PySide6 is carried; `path` is relative to its folder."""
    if path.startswith("Qt/lib/"):
        return path.removeprefix("Qt/lib/").split(".")[0] in _QT_LIBRARIES
    if path.startswith("Qt/plugins/"):
        return path.removeprefix("Qt/plugins/").startswith(_QT_PLUGINS)
    if path.startswith("Qt/translations/"):
        return path.removeprefix("Qt/translations/") in TRANSLATIONS
    if "/" in path:
        return False
    return path.endswith(".py") or path.startswith("libpyside6.") or path.split(".", maxsplit=1)[0] in QT_MODULES


def trim(library: Path, qt: Callable[[str], bool] = of_qt) -> None:
    """Remove what neither app nor engine needs: other parts of Qt, programs, annotations, installation records."""
    for path in sorted(library.rglob("*"), reverse=True):
        relative = path.relative_to(library).as_posix()
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif not is_needed(relative, qt):
            path.unlink()


def is_needed(path: str, qt: Callable[[str], bool] = of_qt) -> bool:
    """Whether a file of the libraries is carried; `path` is relative to their folder."""
    if re.match(
        r"bin/|.*\.(pyi|c|h|pxd|pyx)$|.*/(RECORD|INSTALLER|REQUESTED|direct_url\.json|uv_build\.json|uv_cache\.json)$",
        path,
    ):
        return False
    if path.startswith("PySide6/"):
        return qt(path.removeprefix("PySide6/"))
    return not path.startswith("uv/") and "/include/" not in path and "/tests/" not in path

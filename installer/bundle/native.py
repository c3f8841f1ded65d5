"""Libraries for a target, and what packages for macOS and Windows have in common: Python from uv, the icon."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from installer.bundle.target import Target
from installer.checkout import Checkout
from installer.failure import SetUpFailed
from installer.programs import Programs

_ICON = """
import io, sys
from PIL import Image
from PySide6.QtCore import QBuffer
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
application, picture, data = QGuiApplication([]), QImage(1024, 1024, QImage.Format.Format_ARGB32), QBuffer()
picture.fill(0)
painter = QPainter(picture)
QSvgRenderer(sys.argv[1]).render(painter)
painter.end()
picture.save(data, "PNG")
Image.open(io.BytesIO(data.data().data())).save(sys.argv[2])
"""


def install_libraries(checkout: Checkout, root: Path, *, target: Target, lock: Path) -> None:
    """Install what `lock` names into `lib` and `bin`. Raises CommandFailed."""
    programs, library = Programs(checkout.log, checkout.root), root / "lib"
    place = ["--python-version", target.python, "--python-platform", target.platform, "--target", str(library)]
    command = [str(checkout.venv / "bin" / "uv"), "pip", "install", "--python", str(checkout.python), *place]
    lines = ["--no-deps", "--require-hashes", "--link-mode", "copy", "-r", str(lock)]
    programs.run([*command, *lines], {"UV_PYTHON_DOWNLOADS": "never", **target.variables})
    (root / "bin").mkdir()
    found = next(path for path in library.glob("[bS]*/uv*") if path.stem == "uv")
    shutil.move(found, root / "bin" / found.name)


def add_python(checkout: Checkout, target: Target, folder: Path) -> None:
    """Put a Python that can be moved into `folder`; uv fetches it. Raises CommandFailed."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        uv = [str(checkout.venv / "bin" / "uv"), "python", "install", "--no-bin", "--install-dir", place]
        Programs(checkout.log, checkout.root).run([*uv, target.interpreter])
        found = [path for path in Path(place).glob("cpython-*") if path.is_dir() and not path.is_symlink()]
        if len(found) != 1:
            raise SetUpFailed(f"uv installed no {target.interpreter}.")
        shutil.move(found[0], folder)


def write_icon(checkout: Checkout, path: Path) -> None:
    """The program's icon, in the format of the path's suffix (.icns, .ico)."""
    command = [str(checkout.python), "-c", _ICON, str(checkout.root / "resources/icons/logo.svg"), str(path)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    subprocess.run(command, check=True, env=environment, capture_output=True)

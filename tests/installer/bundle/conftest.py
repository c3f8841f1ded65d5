"""A package built from a stand-in for the libraries: everything is real but what takes long."""

import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from installer.bundle import payload
from installer.checkout import Checkout

ROOT = Path(__file__).resolve().parents[3]


def _libraries(checkout: Checkout, root: Path) -> None:
    (root / "lib" / "PySide6").mkdir(parents=True)
    (root / "lib" / "PySide6" / "QtCore.abi3.so").write_text("a library")
    (root / "lib" / "PySide6" / "QtCore.abi3.so").chmod(0o775)
    (root / "bin").mkdir()
    (root / "bin" / "uv").write_text("#!/bin/sh\n")
    (root / "bin" / "uv").chmod(0o700)
    (root / "python" / "bin").mkdir(parents=True)
    # The tests' Python and libraries, under this name; packages have no links out of their tree.
    (root / "python" / "bin" / "python3").write_text(f'#!/bin/bash\nexec -a "$0" {sys.executable} "$@"\n')
    (root / "python" / "bin" / "python3").chmod(0o755)
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", root / "python")
    libraries = Path(sysconfig.get_path("purelib"))
    place = root / "python" / libraries.relative_to(sys.prefix)
    place.mkdir(parents=True)
    (place / "tests.pth").write_text(f"{libraries}\n")


def few_sources(checkout: Path, root: Path) -> None:
    """In the place of `payload.copy_sources`, where compressing them would take long."""
    (root / "app").mkdir()
    (root / "app" / "__main__.py").write_text("the program")
    shutil.copytree(checkout / "resources" / "runtime", root / "resources" / "runtime")


def native_libraries(_: Checkout, root: Path, **target: object) -> None:
    """In the place of `native.install_libraries`."""
    assert set(target) == {"target", "lock"}
    (root / "lib").mkdir()
    (root / "lib" / "library.py").write_text("a library")
    (root / "bin").mkdir()
    (root / "bin" / "uv").write_text("uv")


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """The checkout; its packages carry few libraries."""
    monkeypatch.setattr(payload, "install_libraries", _libraries)
    return Checkout(ROOT)

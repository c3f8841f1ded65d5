"""A package built from a stand-in for the libraries: everything is real but what takes long."""

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


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """The checkout; its packages carry few libraries."""
    monkeypatch.setattr(payload, "install_libraries", _libraries)
    return Checkout(ROOT)

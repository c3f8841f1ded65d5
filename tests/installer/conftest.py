"""A fresh pretended machine for each test."""

import shutil
from pathlib import Path

import pytest

from installer.checkout import this_checkout
from installer.system_packages import TEST_FONTS, TEST_PROGRAMS
from tests.installer.machine import STUBS, Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    here = this_checkout().root
    machine = Machine(tmp_path)
    shutil.copytree(
        here / "installer", machine.checkout.root / "installer", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(here / name, machine.checkout.root / name)
    (tmp_path / "home" / ".fonts").mkdir(parents=True)
    for font in TEST_FONTS:
        (tmp_path / "home" / ".fonts" / f"{font}.ttf").touch()
    machine.programs.mkdir()
    for name in ("apt-get", *TEST_PROGRAMS):
        machine.add_program(name)
    machine.environment = {
        "HOME": str(tmp_path / "home"),
        "PATH": str(machine.programs),
        "PYTHONPATH": str(STUBS),
        "PYTHONIOENCODING": "utf-8",
        "STUB_CALLS": str(tmp_path / "calls"),
        "DISPLAY": ":77",
    }
    return machine

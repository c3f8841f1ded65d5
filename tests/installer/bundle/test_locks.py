"""The locks agree with what the project declares."""

import re

import pytest

from installer.bundle.locks import APP, locks, pinned
from installer.checkout import Checkout
from tests.installer.bundle.conftest import ROOT

LOCKS = locks(Checkout(ROOT))
EVERY = (LOCKS.app, LOCKS.cpu, LOCKS.cuda, LOCKS.macos_app, LOCKS.macos_runtime, LOCKS.windows_app)


def test_the_locks_have_the_versions_of_the_project() -> None:
    declared = pinned(LOCKS.app.parents[2].joinpath("requirements.lock").read_text())
    for lock in EVERY:
        for name, version in pinned(lock.read_text()).items():
            if name in declared:
                assert version.removesuffix("+cpu") == declared[name], f"{lock.name}: run `python3 -m installer lock`"


def test_every_dependency_of_the_project_is_in_the_locks() -> None:
    app, cpu, cuda = (set(pinned(lock.read_text())) for lock in (LOCKS.app, LOCKS.cpu, LOCKS.cuda))
    wanted = {
        re.split("[=;]", pin)[0].lower().replace("_", "-")
        for pin in Checkout(ROOT).pyproject["project"]["dependencies"]
    }
    assert wanted <= app | cpu
    assert wanted <= app | cuda
    assert {name.lower() for name in APP} <= app
    linux_only = {name for name in wanted if name == "jeepney"}
    macos = set(pinned(LOCKS.macos_app.read_text())) | set(pinned(LOCKS.macos_runtime.read_text()))
    assert wanted - linux_only <= macos
    assert {name.lower() for name in APP} - linux_only <= set(pinned(LOCKS.windows_app.read_text()))


@pytest.mark.parametrize("lock", EVERY, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_pin_has_hashes_and_no_lock_names_a_host(lock: object) -> None:
    text = lock.read_text()  # type: ignore[attr-defined]
    pins = re.split(r"\n(?=[a-z])", text)[1:]
    assert len(pins) > 25
    assert all("--hash=sha256:" in pin for pin in pins)
    assert "://" not in text


def test_nothing_is_installed_twice() -> None:
    app = set(pinned(LOCKS.app.read_text()))
    assert not app & set(pinned(LOCKS.cpu.read_text()))
    assert not app & set(pinned(LOCKS.cuda.read_text()))
    assert not set(pinned(LOCKS.macos_app.read_text())) & set(pinned(LOCKS.macos_runtime.read_text()))

"""The real package on a clean Debian or Ubuntu: installed, used, upgraded while it contributes, and removed.

    python -m pytest -m slow tests/packaging -s

It needs root, a mirror and the sources of the pinned packages. `SUITE` names the system: bookworm (Debian 12, the
default), trixie (13), jammy, noble or resolute (Ubuntu 22.04, 24.04, 26.04). `PACKAGES` names a folder in which both
versions of the package are already.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from installer import pip_settings
from installer.bundle import build
from installer.checkout import Checkout
from tests.packaging.clean_root import PERSON, UBUNTU, UBUNTU_KEYS, CleanRoot, new
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
SUITE = os.environ.get("SUITE", "bookworm")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.root,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root"),
    pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason="mmdebstrap is not installed"),
    pytest.mark.skipif(SUITE in UBUNTU and not UBUNTU_KEYS.exists(), reason=f"Ubuntu's keys are not in {UBUNTU_KEYS}"),
]
_PRESS = """
from types import NoneType
from core.api.intent import Contribute
from core.client.engine_client import EngineClient
from core.client.profile import Profile
EngineClient.connect(Profile.from_environment()).request(Contribute("practice"), NoneType)
"""
_PROFILE = f"home/{PERSON}/.local/share/idlehive"
_OLD, _NEW = "0.1.0", "0.2.0"
_LONG = 1500.0
"""Seconds for what downloads or trains."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The package in two versions."""
    given = os.environ.get("PACKAGES")
    out = Path(given) if given else tmp_path_factory.mktemp("packages")
    made = {version: out / f"idlehive_{version}_amd64.deb" for version in (_OLD, _NEW)}
    for version, path in made.items():
        if not path.exists():
            build.build(Checkout(ROOT), "deb", out, version)
    return made


@pytest.fixture
def debian(tmp_path: Path, packages: dict[str, Path]) -> Iterator[CleanRoot]:
    root = CleanRoot(tmp_path / "root", SUITE)
    try:
        root.lend(packages[_OLD].parent, "packages")
        yield root
    finally:
        root.close()


def test_a_package_is_installed_used_upgraded_and_removed_without_a_trace(debian: CleanRoot, tmp_path: Path) -> None:
    before = install_dependencies(debian)
    install(debian, _OLD)
    with window(debian, tmp_path / "window.log"):
        wait_for_runtime(debian)
        contribute_to_epoch_3(debian, tmp_path / "contribute.log")
        upgrade_while_contributing(debian)
        remove(debian)
        purge(debian, before)


def install_dependencies(root: CleanRoot) -> set[str]:
    """All files afterwards: the package itself then makes the only difference."""
    with measured("dependencies installed"):
        root.run("apt-get", "update", "-q")
        control = root.run("dpkg-deb", "-f", package(_OLD), "Depends", "Recommends")
        needed = [
            name.strip().split("|")[0].split("(")[0].strip()
            for line in control.splitlines()
            for name in line.split(":", 1)[1].split(",")
        ]
        root.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *needed)
    return root.files()


def install(root: CleanRoot, version: str) -> None:
    with measured(f"{version} installed"):
        root.run("apt-get", "install", "-q", "-y", package(version))
    assert root.as_person("idlehive", "--version") == f"idlehive {version}\n"


@contextmanager
def window(root: CleanRoot, log: Path) -> Iterator[None]:
    """The window of an ordinary person under Xvfb; what it says is printed if the test fails."""
    command = ("xvfb-run", "-a", "dbus-run-session", "idlehive")
    screen = root.start(*command, output=log, **sources(root), QT_QPA_PLATFORM="xcb")
    try:
        wait_for((root.folder / _PROFILE / "idlehive.sqlite").exists, 120, "an engine", every=1)
        yield
    except BaseException:
        print(f"the window: {log.read_text()}\nstatus: {root.as_person('idlehive', 'status', check=False)}")
        print(root.as_person("idlehive", "log", check=False)[-6000:])
        raise
    finally:
        root.end_all()
        screen.wait(30)


def wait_for_runtime(root: CleanRoot) -> None:
    """The window installs it by itself; projects can be listed meanwhile."""
    with measured("runtime installed"):
        assert "practice" in root.as_person("idlehive", "projects")
        wait_for(lambda: runtime(root)["ready"] or runtime(root)["failure"], _LONG, "a runtime", every=2)
    print(json.dumps(runtime(root)))
    assert runtime(root)["failure"] is None


def contribute_to_epoch_3(root: CleanRoot, log: Path) -> None:
    root.as_person("idlehive", "limits", "set", "busy_processor", "do not wait")
    with measured("epoch 3 reached"):
        command = root.start("idlehive", "contribute", "practice", "--until-epoch", "3", output=log)
        with measured("first epoch reached"):
            wait_for(lambda: "Epoch 1" in log.read_text() or command.poll() is not None, _LONG, "an epoch", every=1)
        wait_for(lambda: command.poll() is not None, _LONG, "epoch 3", every=1)
    assert command.returncode == 0, log.read_text()


def upgrade_while_contributing(root: CleanRoot) -> None:
    """The record stays, and the session continues with the new version."""
    given = history(root)
    assert given
    press_contribute(root)
    wait_for(lambda: is_in_session(root), 180, "a session", every=1)
    install(root, _NEW)
    wait_for(lambda: status(root)["version"] == _NEW, 180, "an engine of the new version", every=1)
    assert len(history(root)) >= len(given)
    wait_for(lambda: is_in_session(root), 300, "a session after the upgrade", every=1)


def remove(root: CleanRoot) -> None:
    """What runs ends, and the data stays."""
    with measured("removed"):
        root.run("apt-get", "remove", "-q", "-y", "idlehive")
    assert root.instances() == []
    assert (root.folder / _PROFILE / "idlehive.sqlite").exists()


def purge(root: CleanRoot, before: set[str]) -> None:
    """Nothing of it is left; dpkg's own lists and the cache of file types change with every package."""
    listed = root.run("apt-get", "purge", "-q", "-y", "idlehive")
    assert f"Deleted /{_PROFILE}" in listed
    kept = ("var/lib/dpkg", "usr/share/applications/mimeinfo")
    left = [path for path in new(before, root.files()) if not path.startswith(kept)]
    print(f"left: {left}")
    assert [path for path in left if "idlehive" in path.lower()] == []


@contextmanager
def measured(what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    print(f"\n{what}: {time.monotonic() - began:.0f} s", flush=True)


def package(version: str) -> str:
    """Its path in the root."""
    return f"/packages/idlehive_{version}_amd64.deb"


def sources(root: CleanRoot) -> dict[str, str]:
    """The folders of wheels that pip knows here, made visible in the root: it has no other way to the CPU build."""
    listing = subprocess.run(["python3", "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    folders = pip_settings.link_folders(pip_settings.parse(listing.stdout))
    lent = [root.lend(folder, f"wheels/{number}") for number, folder in enumerate(folders) if folder.is_dir()]
    return {"UV_FIND_LINKS": ",".join(lent)} if lent else {}


def runtime(root: CleanRoot) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(root.as_person("idlehive", "runtime", "--json"))
    return found


def history(root: CleanRoot) -> list[Any]:
    found: list[Any] = json.loads(root.as_person("idlehive", "history", "--json"))
    return found


def status(root: CleanRoot) -> dict[str, Any]:
    """The engine's own, or what is known without one; while it starts again it refuses to answer."""
    found: dict[str, Any] = json.loads(root.as_person("idlehive", "status", "--json", check=False) or "{}")
    return {"version": "", "state": "idle", **found}


def is_in_session(root: CleanRoot) -> bool:
    """It computes: one that starts has less to end, one that leaves is none any longer."""
    return bool(status(root)["state"] == "contributing")


def press_contribute(root: CleanRoot) -> None:
    """What the window's button sends to the engine."""
    python = "/usr/lib/idlehive/python/bin/python3"
    root.as_person(python, "-c", _PRESS, PYTHONPATH="/usr/lib/idlehive:/usr/lib/idlehive/lib")

"""The real package on a clean Debian: installed, used by an ordinary person, upgraded while it contributes, removed.

    python -m pytest -m slow tests/packaging -s

It needs root, a Debian mirror and the sources of the pinned packages.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from installer import pip_settings
from installer.bundle import build
from installer.checkout import Checkout
from tests.packaging.clean_root import PERSON, CleanRoot, new

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.root,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root"),
    pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason="mmdebstrap is not installed"),
]
_PRESS = """
from types import NoneType
from core.api.intent import Contribute
from core.client.engine_client import EngineClient
from core.client.profile import Profile
EngineClient.connect(Profile.from_environment()).request(Contribute("practice"), NoneType)
"""
_PROFILE = f"home/{PERSON}/.local/share/idlehive"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The package in two versions. PACKAGES names a folder that has them already."""
    given = os.environ.get("PACKAGES")
    out = Path(given) if given else tmp_path_factory.mktemp("packages")
    made = {version: out / f"idlehive_{version}_amd64.deb" for version in ("0.1.0", "0.2.0")}
    for version, path in made.items():
        if not path.exists():
            build.build(Checkout(ROOT), "deb", out, version)
    return made


@pytest.fixture
def debian(tmp_path: Path) -> Iterator[CleanRoot]:
    root = CleanRoot(tmp_path / "root", os.environ.get("SUITE", "bookworm"))
    try:
        yield root
    finally:
        root.close()


def sources(root: CleanRoot) -> dict[str, str]:
    """The folders of wheels that pip knows here, made visible in the root: it has no other way to the CPU build."""
    listing = subprocess.run(["python3", "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    folders = pip_settings.link_folders(pip_settings.parse(listing.stdout))
    lent = [root.lend(folder, f"wheels/{number}") for number, folder in enumerate(folders) if folder.is_dir()]
    return {"UV_FIND_LINKS": ",".join(lent)} if lent else {}


def status(root: CleanRoot) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(root.as_person("idlehive", "status", "--json"))
    return found


def wait_until(reached: Any, what: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(1.0)


def test_a_package_is_installed_used_upgraded_and_removed_without_a_trace(
    packages: dict[str, Path], debian: CleanRoot
) -> None:
    folder = debian.lend(packages["0.1.0"].parent, "packages")
    variables = sources(debian)
    debian.run("apt-get", "update", "-q")
    # First what it depends on, so that afterwards only the package itself makes a difference.
    control = debian.run("dpkg-deb", "-f", f"{folder}/idlehive_0.1.0_amd64.deb", "Depends", "Recommends")
    needed = [
        name.strip().split("|")[0].split("(")[0].strip()
        for line in control.splitlines()
        for name in line.split(":", 1)[1].split(",")
    ]
    debian.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *needed)
    before = debian.files()

    began = time.monotonic()
    debian.run("apt-get", "install", "-q", "-y", f"{folder}/idlehive_0.1.0_amd64.deb")
    print(f"\ninstalled in {time.monotonic() - began:.0f} s")
    assert debian.as_person("idlehive", "--version") == "idlehive 0.1.0\n"

    screen = subprocess.Popen(
        debian.person_command("xvfb-run", "-a", "dbus-run-session", "idlehive"),
        env=debian.environment(**variables, QT_QPA_PLATFORM="xcb"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        # The window installs the runtime by itself; projects can be listed meanwhile.
        wait_until((debian.folder / _PROFILE / "idlehive.sqlite").exists, "an engine", 120)
        assert "practice" in debian.as_person("idlehive", "projects")
        wait_until(
            lambda: status(debian)["state"] == "idle" and (debian.folder / _PROFILE / "compute/current").is_symlink(),
            "a runtime",
            1500,
        )
        print(f"runtime installed {time.monotonic() - began:.0f} s after the first click")

        debian.as_person("idlehive", "limits", "set", "busy_processor", "do not wait")
        contributing = subprocess.Popen(
            debian.person_command("idlehive", "contribute", "practice", "--until-epoch", "3"),
            env=debian.environment(**variables),
        )
        hurry(debian, contributing)
        assert contributing.returncode == 0
        print(f"epoch 3 reached {time.monotonic() - began:.0f} s after the first click")
        given = json.loads(debian.as_person("idlehive", "history", "--json"))

        press_contribute(debian)
        wait_until(lambda: status(debian)["state"] not in ("idle", "failed"), "a session", 120)
        debian.run("apt-get", "install", "-q", "-y", f"{folder}/idlehive_0.2.0_amd64.deb")
        assert debian.as_person("idlehive", "--version") == "idlehive 0.2.0\n"
        wait_until(lambda: "0.2.0" in debian.as_person("idlehive", "doctor"), "the new version", 120)
        assert len(json.loads(debian.as_person("idlehive", "history", "--json"))) >= len(given) > 0
        wait_until(lambda: status(debian)["state"] not in ("idle", "failed"), "a session after the upgrade", 180)

        debian.run("apt-get", "remove", "-q", "-y", "idlehive")
        assert debian.processes() == []
        assert (debian.folder / _PROFILE / "idlehive.sqlite").exists()
        listed = debian.run("apt-get", "purge", "-q", "-y", "idlehive")
        assert f"Deleted /{_PROFILE}" in listed
        left = [
            path
            for path in new(before, debian.files())
            if not path.startswith(("var/lib/dpkg", "usr/share/applications/mimeinfo"))
        ]
        assert [path for path in left if "idlehive" in path.lower()] == []
        print(f"left: {left}")
    finally:
        debian.run("pkill", "-u", PERSON, check=False)
        screen.wait(30)


def press_contribute(root: CleanRoot) -> None:
    """What the window's button sends to the engine."""
    root.as_person("python3", "-c", _PRESS, PYTHONPATH="/usr/lib/idlehive:/usr/lib/idlehive/lib")


def hurry(root: CleanRoot, process: "subprocess.Popen[bytes]", seconds: float = 1500) -> None:
    """Wait for the command. Sessions run at idle priority: on a busy machine they would never end."""
    deadline = time.monotonic() + seconds
    while process.poll() is None:
        assert time.monotonic() < deadline
        for number in subprocess.run(
            ["pgrep", "-f", "compute/c.*core.(trainer|host)"], capture_output=True, text=True, check=False
        ).stdout.split():
            subprocess.run(["chrt", "--other", "--pid", "0", number], capture_output=True, check=False)
            subprocess.run(["renice", "-n", "0", "-p", number], capture_output=True, check=False)
        time.sleep(2)

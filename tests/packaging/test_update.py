"""A real portable build that replaces itself by the one that its publisher has signed, from a server on loopback."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.release import publish
from installer.bundle import payload, portable
from installer.checkout import Checkout
from tests.fakes.http_server import FakeServer, answer, serving
from tests.release.given import FAR, KEY, PUBLIC, RELEASE
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
_OLD, _NEW = "0.1.0", "0.2.0"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


class Build:
    """A portable build in a folder, with a profile of its own."""

    def __init__(self, root: Path, profile: Path) -> None:
        self.root, self._profile = root, profile

    def run(self, *arguments: str, check: bool = True) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [str(self.root / "idlehive"), *arguments],
            env={**environment, "IDLEHIVE_HOME": str(self._profile), "NO_PROXY": "*"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("status", "--json"))
        return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FakeServer]:
    """The publisher's: it serves the release file, then the archive."""
    archive = portable.build(Checkout(ROOT), tmp_path / "new", _NEW, 1_750_000_000)
    files = publish.describe({"portable": archive}, "")
    release = publish.sign(type(RELEASE)(1, FAR, _NEW, "- Better.", files), [KEY])
    documents = {"/release.json": answer(200, release), f"/{archive.name}": answer(200, archive.read_bytes())}
    with serving(lambda handler: documents[handler.path](handler)) as made:
        yield made


@pytest.fixture
def build(tmp_path: Path, short_folder: Path, server: FakeServer) -> Iterator[Build]:
    checkout = Checkout(ROOT)
    checkout.pyproject["tool"]["idlehive"]["publisher"] = {"address": server.url("release.json"), "keys": [PUBLIC]}
    payload.make(checkout, tmp_path / "idlehive", "portable", _OLD)
    made = Build(tmp_path / "idlehive", short_folder)
    try:
        yield made
    finally:
        made.run("quit", check=False)


def test_a_portable_build_replaces_itself_and_its_engine_starts_again(build: Build, server: FakeServer) -> None:
    build.run("limits", "set", "cache_size", "1 GB")
    build.run("resume")  # leaves an engine running
    before = build.status()
    assert "0.2.0 is available" in build.run("update", "check")
    assert build.run("update", "install") == f"Idlehive {_NEW} is installed and starts again.\n"
    wait_for(lambda: build.run("--version") == f"idlehive {_NEW}\n", 120, "the new version", every=1)
    wait_for(lambda: build.status()["version"] == _NEW, 120, "an engine of the new version", every=1)
    assert build.status()["engine_pid"] == before["engine_pid"]  # it has started again in its own process
    assert "Value: 1 GB\n" in build.run("limits", "show", "cache_size")
    assert [entry.name for entry in build.root.parent.iterdir() if "idlehive" in entry.name] == ["idlehive"]
    assert {request["user-agent"] for request in server.seen} == {"Idlehive"}

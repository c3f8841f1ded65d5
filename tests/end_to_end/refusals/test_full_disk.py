"""A full disk: one sentence, and nothing is lost."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.end_to_end.projects import site
from tests.end_to_end.refusals.refusals import failing, nothing_lost, published, refused, stop
from tests.fakes.http_server import serving

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def small_disk(machine: Machine) -> Iterator[Path]:
    """A profile folder on a file system of 8 MiB."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    folder = machine.folder / "ann"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "idlehive-test", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"this root may not mount a file system: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """A file that takes the last free byte."""
    ballast = folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    return ballast


@pytest.mark.slow
@pytest.mark.root
def test_a_full_disk_is_told_and_costs_nothing(small_disk: Path, machine: Machine, ann: Participant) -> None:
    with nothing_lost(ann):
        ballast = fill(small_disk)
        done = ann.run("limits", "set", "cache_size", "9GiB")
        assert "disk is full" in refused(done, 1)
        program = ann.start("contribute", "practice", "--until-epoch", "5")
        told = wait_for(lambda: re.search("Waiting to retry.*", program.said()), 60.0, "it fails")
        assert told is not None
        assert re.search("No space left on device|disk is full", told[0])
        ballast.unlink()
        stop(program)
    assert ann.run("limits", "set", "cache_size", "9GiB").returncode == 0
    history = json.loads(ann.run("history", "--json").stdout)
    assert history["totals"]["samples"] == 64
    machine.wait_until_nothing_is_left()


@pytest.mark.root
def test_a_disk_that_fills_up_while_the_engine_runs_is_told_and_costs_nothing(
    small_disk: Path, machine: Machine, ann: Participant
) -> None:
    assert ann.run("resume").returncode == 0
    with nothing_lost(ann):
        ballast = fill(small_disk)
        assert "The disk is full" in refused(ann.run("limits", "set", "cache_size", "9GiB"), 1)
        assert ann.status()["engine_pid"] > 0
        ballast.unlink()
        wait_for(lambda: ann.run("limits", "set", "upload_limit", "1MB/s").returncode == 0, 20.0, "space is used again")
    assert ann.run("quit").returncode == 0
    machine.wait_until_nothing_is_left()


@pytest.mark.slow
@pytest.mark.root
def test_data_that_does_not_fit_onto_the_disk_is_told(small_disk: Path, machine: Machine, ann: Participant) -> None:
    def enlarge(plain: dict[str, Any]) -> None:
        plain["data"]["shards"][0]["size"] = 1 << 24

    description, plain = published(machine, enlarge)
    with serving(site(description, plain)) as server, nothing_lost(ann):
        program, status = failing(ann, server, "The disk is full")
        assert status["state"] == "failed"
        assert f"are needed in {ann.home.cache}" in status["error"]
        stop(program)
    machine.wait_until_nothing_is_left()

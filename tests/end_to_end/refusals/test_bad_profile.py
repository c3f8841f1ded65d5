"""A profile that is taken, and a computer without a keyring: one sentence, and nothing is lost."""

import json
import os
import stat
import subprocess

import msgspec
import pytest

from core.api.message import Message
from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.end_to_end.refusals.refusals import nothing_lost, refused, sentence

pytestmark = pytest.mark.timeout(120)


def test_a_second_engine_of_a_profile_is_refused_and_the_first_goes_on(machine: Machine, ann: Participant) -> None:
    first = ann.start(module="core.engine")
    pid = wait_for(lambda: ann.status()["engine_pid"], 20.0, "the engine answers")
    second = ann.start(module="core.engine")
    assert second.end() == 1
    why = Message("engine_already_running", {"path": str(ann.home.path), "process": str(pid)})
    assert msgspec.json.decode(second.said(), type=Message) == why
    assert ann.status()["engine_pid"] == pid
    assert ann.run("quit").returncode == 0
    assert first.end() == 0
    machine.wait_until_nothing_is_left()


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_home_that_cannot_be_written_is_named_and_later_used(machine: Machine, ann: Participant) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "idlehive-test", ann.home.path], check=True)
    try:
        said = refused(ann.run("contribute", "practice"), 1)
    finally:
        subprocess.run(["umount", ann.home.path], check=True)
    assert said == f"idlehive: The engine cannot be started in {ann.home.path}: Read-only file system."
    assert ann.run("limits", "set", "cache_size", "9GiB").returncode == 0
    ann.run("quit")
    machine.wait_until_nothing_is_left()


def test_without_a_keyring_an_invite_goes_to_a_private_file_and_this_is_said(
    machine: Machine, ann: Participant
) -> None:
    token = "honeycomb-7421-secret"
    with nothing_lost(ann):
        done = ann.run("projects", "join", "practice", "--invite", "-", stdin=f"{token}\n")
    assert done.returncode == 0, done.stderr
    assert "no usable keyring" in sentence(done.stderr)
    secrets = [path for path in machine.folder.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    assert [path.parent for path in secrets] == [ann.home.path]
    assert stat.S_IMODE(secrets[0].stat().st_mode) == 0o600
    shown = ann.run("projects", "show", "practice", "--json")
    assert "no usable keyring" in json.loads(shown.stdout)["info"]["warning"]
    for said in (done.stdout, done.stderr, shown.stdout, ann.run("log", "-n", "1000").stdout):
        assert token not in said

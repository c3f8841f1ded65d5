"""Wrong input and a wrong world, with real processes: one clear sentence, the right exit code, and nothing lost."""

import json
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from core.api.session import Counters
from core.api.snapshot import Traffic
from core.store.store import Store
from tests.end_to_end.machine import PRACTICE, Machine, Profile, Program, wait_for
from tests.end_to_end.projects import manifest, project, site
from tests.fakes.http_server import FakeServer, answer, closed_port, serving

pytestmark = pytest.mark.timeout(120)
RUN_AT = 1_790_000_000.0
Rows = dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def ann(machine: Machine) -> Profile:
    """A volunteer with a membership, a preference and a history."""
    volunteer = machine.profile("ann")
    assert volunteer.run("projects", "join", "practice").returncode == 0
    assert volunteer.run("limits", "set", "cache_size", "3GiB").returncode == 0
    store = Store(volunteer.home.database)
    store.journal.begin("practice", "practice-1", RUN_AT)
    store.journal.add(Counters(samples=64, seconds=10.0), Traffic(1000, 2000), RUN_AT + 10)
    store.journal.end("done", RUN_AT + 20)
    store.close()
    return volunteer


def kept(volunteer: Profile) -> Rows:
    """What must never be lost, as it stands in the file."""
    connection = sqlite3.connect(f"file:{volunteer.home.database}?mode=ro", uri=True)
    try:
        tables = ("preference", "project", "membership", "session", "contribution")
        rows = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables}  # noqa: S608
    finally:
        connection.close()
    # A manifest may be renewed and an invite be added; what counts is which projects there are, and since when.
    return {**rows, **{table: [row[:2] for row in rows[table]] for table in ("project", "membership")}}


@contextmanager
def nothing_lost(volunteer: Profile) -> Iterator[None]:
    before = kept(volunteer)
    assert all(before.values())
    yield
    after = kept(volunteer)
    assert {table: [row for row in rows if row not in after[table]] for table, rows in before.items()} == {
        table: [] for table in before
    }


def sentence(text: str) -> str:
    """What stands on stderr, which must be one line that ends like a sentence."""
    assert text.count("\n") == 1, text
    assert text.rstrip().endswith((".", ")")), text
    return text.strip()


def refused(done: "subprocess.CompletedProcess[str]", code: int) -> str:
    assert done.returncode == code, (done.stdout, done.stderr)
    return sentence(done.stderr)


# -- manifests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [("contribute",), ("projects", "add"), ("projects", "join")])
def test_a_broken_manifest_names_the_field(machine: Machine, ann: Profile, verb: tuple[str, ...]) -> None:
    broken = manifest(project(machine.folder, id="bees"), machine.folder / "state")
    broken["training"]["microbatch_size"] = "sixteen"
    file = machine.folder / "bees.json"
    file.write_text(json.dumps(broken))
    with serving(answer(200, json.dumps(broken).encode())) as server, nothing_lost(ann):
        for source in (str(file), server.url("bees.json")):
            assert "$.training.microbatch_size: Expected int, got str" in refused(ann.run(*verb, source), 2)
    machine.wait_until_nothing_is_left()


def test_what_is_no_manifest_at_all_is_refused(machine: Machine, ann: Profile) -> None:
    file = machine.folder / "page.json"
    file.write_text("<html>Not found</html>")
    with serving(answer(200, file.read_bytes())) as server, nothing_lost(ann):
        for source in (str(file), server.url("page.json")):
            assert "The project's manifest is not usable: $: " in refused(ann.run("contribute", source), 2)


def test_a_project_that_cannot_be_reached_is_told(machine: Machine, ann: Profile) -> None:
    url = f"http://127.0.0.1:{closed_port()}/manifest.json"
    with nothing_lost(ann):
        for verb in (("contribute",), ("projects", "add")):
            told = refused(ann.run(*verb, url), 1)
            assert told == "idlehive: 127.0.0.1 cannot be reached. Check the address and the connection."
    machine.wait_until_nothing_is_left()


# -- what only the trainer finds out -----------------------------------------------------------------------------------

Spoil = Callable[[dict[str, Any]], None]


def spoil_architecture(plain: dict[str, Any]) -> None:
    plain["model"]["architecture"] = "AlbertForMaskedCats"


def spoil_vocabulary(plain: dict[str, Any]) -> None:
    plain["model"]["config"]["vocab_size"] = 500


def spoil_configuration(plain: dict[str, Any]) -> None:
    plain["model"]["config"]["hidden_sise"] = 128


def published(machine: Machine, spoil: Spoil) -> tuple[Path, dict[str, Any]]:
    description = project(machine.folder, id="bees")
    plain = manifest(description, machine.folder / "state")
    spoil(plain)
    return description, plain


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (spoil_architecture, "$.model.architecture"),
        (spoil_vocabulary, "$.model.config.vocab_size"),
        (spoil_configuration, "$.model.config.hidden_sise"),
    ],
)
def test_a_model_that_cannot_be_built_ends_the_contribution_with_the_field(
    machine: Machine, ann: Profile, spoil: Spoil, field: str
) -> None:
    description, plain = published(machine, spoil)
    with serving(site(description, plain)) as server, nothing_lost(ann):
        told = refused(ann.run("contribute", server.url("manifest.json")), 1)
        assert f"The project's manifest is not usable: {field}: " in told
    machine.wait_until_nothing_is_left()


def failing(ann: Profile, server: FakeServer, words: str) -> tuple[Program, dict[str, Any]]:
    """A contribution whose session fails in a way that may pass, and its status then."""
    program = ann.start("contribute", server.url("manifest.json"), "--until-epoch", "5")
    wait_for(lambda: words in program.said() or program.process.poll() is not None, 60.0, words)
    assert program.process.poll() is None, program.complained()
    return program, ann.status()


def stop(program: Program) -> None:
    """As a service manager does; what was agreed is not reached, and that is what the exit code says."""
    program.process.send_signal(signal.SIGTERM)
    assert program.end() == 1


@pytest.mark.slow
def test_a_shard_with_the_wrong_hash_is_told_and_thrown_away(machine: Machine, ann: Profile) -> None:
    description, plain = published(machine, lambda _: None)
    right = (PRACTICE / "train-2.txt").read_bytes()
    behave = site(description, plain, train_2=right.replace(b"love", b"hate", 1))
    with serving(behave) as server, nothing_lost(ann):
        program, status = failing(ann, server, "wrong SHA-256")
        assert "train-2.txt cannot be had from 127.0.0.1" in program.said()
        assert status["state"] == "failed"
        assert "its content is not what the manifest says (wrong SHA-256); it was deleted" in status["error"]
        assert status["retry_at"] is not None
        cached = {path.name for path in ann.home.cache.iterdir()}
        assert plain["data"]["shards"][1]["sha256"] in cached
        assert not [name for name in cached if name.startswith(plain["data"]["shards"][2]["sha256"])]
        stop(program)
    machine.wait_until_nothing_is_left()


@pytest.mark.slow
def test_a_run_whose_peers_do_not_answer_is_told_and_tried_again(machine: Machine, ann: Profile) -> None:
    description, plain = published(machine, lambda _: None)
    with serving(site(description, plain)) as server, nothing_lost(ann):
        program, status = failing(ann, server, "None of the project's peers answers")
        assert status["state"] == "failed"
        assert status["retry_at"] is not None
        stop(program)
    machine.wait_until_nothing_is_left()


# -- the machine -------------------------------------------------------------------------------------------------------


def test_a_second_engine_of_a_profile_is_refused_and_the_first_goes_on(machine: Machine, ann: Profile) -> None:
    first = ann.start(module="core.engine")
    pid = wait_for(lambda: ann.status()["engine_pid"], 20.0, "the engine answers")
    second = ann.start(module="core.engine")
    assert second.end() == 1
    assert sentence(second.complained()) == f"The engine of {ann.home.path} is running already (process {pid})."
    assert ann.status()["engine_pid"] == pid
    assert ann.run("quit").returncode == 0
    assert first.end() == 0
    machine.wait_until_nothing_is_left()


def test_without_a_keyring_an_invite_goes_to_a_private_file_and_this_is_said(machine: Machine, ann: Profile) -> None:
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
def test_a_full_disk_is_told_and_costs_nothing(small_disk: Path, machine: Machine, ann: Profile) -> None:
    with nothing_lost(ann):
        ballast = fill(small_disk)
        done = ann.run("limits", "set", "cache_size", "9GiB")
        assert "disk is full" in refused(done, 1)
        program = ann.start("contribute", "practice", "--until-epoch", "5")
        told = wait_for(lambda: re.search("Failed: .*", program.said()), 60.0, "it fails")
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
    small_disk: Path, machine: Machine, ann: Profile
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
def test_data_that_does_not_fit_onto_the_disk_is_told(small_disk: Path, machine: Machine, ann: Profile) -> None:
    def enlarge(plain: dict[str, Any]) -> None:
        plain["data"]["shards"][0]["size"] = 1 << 24

    description, plain = published(machine, enlarge)
    with serving(site(description, plain)) as server, nothing_lost(ann):
        program, status = failing(ann, server, "The disk is full")
        assert status["state"] == "failed"
        assert f"are needed in {ann.home.cache}" in status["error"]
        stop(program)
    machine.wait_until_nothing_is_left()


# -- organisers --------------------------------------------------------------------------------------------------------


@pytest.fixture
def organiser(machine: Machine) -> Profile:
    return machine.profile("organiser")


def host(organiser: Profile, description: Path, *options: str) -> Program:
    state = organiser.home.path.parent / "state"
    return organiser.start("host", str(description), "--http", "127.0.0.1:0", "--state", str(state), *options)


@pytest.mark.slow
def test_a_port_in_use_is_told(machine: Machine, organiser: Profile) -> None:
    description = project(machine.folder)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        web = host(organiser, description, "--http", f"127.0.0.1:{port}")
        assert web.end(60.0) == 1
        assert "the port is in use by another program" in sentence(web.complained())
        peers = host(organiser, description, "--listen", f"/ip4/127.0.0.1/tcp/{port}")
        assert peers.end(60.0) == 1
        told = f"/ip4/127.0.0.1/tcp/{port} cannot be used: another program listens there. Choose another port."
        assert told in peers.complained().splitlines()
    machine.wait_until_nothing_is_left()


@pytest.mark.slow
def test_a_second_backbone_in_the_same_folder_is_refused_and_the_first_goes_on(
    machine: Machine, organiser: Profile
) -> None:
    description = project(machine.folder)
    first = host(organiser, description)
    wait_for(lambda: "Serving" in first.said(), 60.0, "the backbone serves")
    second = host(organiser, description, "--listen", f"/ip4/127.0.0.1/tcp/{closed_port()}")
    assert second.end(60.0) == 1
    assert "is in use by another backbone" in sentence(second.complained())
    assert first.process.poll() is None
    first.process.terminate()
    assert first.end() == 0
    machine.wait_until_nothing_is_left()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "Busy Bees"}, "id: Expected 1 to 64 lower-case letters"),
        ({"sequence_length": "long"}, "task.sequence_length: Expected int, got str"),
        ({"tokenizer": "missing.json"}, "tokenizer: "),
        ({"held_out": "missing.txt"}, "data.held_out: "),
        ({"architecture": "AlbertForMaskedCats"}, "model.architecture: "),
        ({"vocab_size": 500}, "model.config.vocab_size: "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_wrong_project_is_refused_with_the_field(
    machine: Machine, organiser: Profile, change: dict[str, Any], words: str
) -> None:
    program = host(organiser, project(machine.folder, **change))
    assert program.end(60.0) == 2
    assert words in sentence(program.complained())
    machine.wait_until_nothing_is_left()


def test_what_is_no_toml_is_refused(machine: Machine, organiser: Profile) -> None:
    file = machine.folder / "project.toml"
    file.write_text("format = = 1")
    program = host(organiser, file)
    assert program.end(60.0) == 2
    assert f"{file} is not TOML: " in sentence(program.complained())
    missing = host(organiser, machine.folder / "nothing.toml")
    assert missing.end(60.0) == 2
    assert "No such file or directory" in sentence(missing.complained())

"""What can be added as a project, and what is refused."""

import json
import socket
import threading
from pathlib import Path

import pytest

from app.text.formats.numbers import size
from app.text.messages import sentence
from core.api.errors import IdlehiveError, UsageError, WorldError
from core.api.message import Message
from core.api.project.projects import (
    AddProject,
    JoinProject,
    ListProjects,
    ProjectDetails,
    ProjectInfo,
    ShowProject,
)
from tests.engine.projects.organiser import Organiser
from tests.fakes.running_engine import RunningEngine
from tests.fakes.scripted_host import manifest


def test_a_manifest_file_is_read_by_its_full_path(engine: RunningEngine, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    shard = {"url": "https://example.org/a", "sha256": "0" * 64, "size": 1}
    file.write_text(json.dumps(manifest(id="local", tokenizer=shard, data={"shards": [shard]}, curve=None)))
    assert engine.start().ask(AddProject(str(file)), ProjectInfo).source == str(file)
    details = engine.ask(ShowProject("local"), ProjectDetails)
    assert (details.download_size, details.hourly_download) == (2, 0)


def test_what_is_downloaded_later_is_told(engine: RunningEngine, tmp_path: Path) -> None:
    tokenizer, *shards = (
        {"url": "https://example.org/a", "sha256": "0" * 64, "size": size << 20} for size in (1, 20, 30)
    )
    file = tmp_path / "m.json"
    file.write_text(json.dumps(manifest(id="local", tokenizer=tokenizer, data={"shards": shards}, curve=None)))
    engine.start().ask(AddProject(str(file)), ProjectInfo)
    details = engine.ask(ShowProject("local"), ProjectDetails)
    assert (details.download_size, details.hourly_download) == (31 << 20, 30 << 20)


def refusal(engine: RunningEngine, source: str) -> IdlehiveError:
    with pytest.raises((UsageError, WorldError)) as caught:
        engine.ask(AddProject(source), ProjectInfo)
    assert str(caught.value).count("\n") == 0
    return caught.value


def test_what_is_no_manifest_is_refused_with_a_clear_sentence(engine: RunningEngine, organiser: Organiser) -> None:
    engine.start()
    organiser.pages.update({"text": b"hello", "huge": b" " * (1 << 20) + b"{}", "wrong": b'{"format": 1, "id": 5}'})
    gone = organiser.url("gone")
    sentences = {
        gone: (WorldError, f"There is nothing at {gone} (404)"),
        organiser.url("text"): (UsageError, "This is not an Idlehive project"),
        organiser.url("huge"): (WorldError, f"is larger than {size(1 << 20)}"),
        organiser.url("wrong"): (UsageError, "$.id"),
        "ftp://example.org/m.json": (UsageError, "must begin with https:// or http://"),
        "http://": (UsageError, "is not an address"),
        "http://[": (UsageError, "is not an address"),
        "https://me:secret@example.org/m.json": (UsageError, "must not hold a user name or a password"),
        "relative.json": (UsageError, "neither an address nor the full path of a file"),
        "/no/such/file.json": (UsageError, "There is no file /no/such/file.json."),
        "/tmp": (UsageError, "/tmp is a folder. Name the project's manifest in it"),
        "/dev/zero": (UsageError, f"larger than {size(1 << 20)}"),
    }
    for source, (kind, words) in sentences.items():
        error = refusal(engine, source)
        assert isinstance(error, kind), error
        assert words in sentence(error.message)
    assert len(engine.ask(ListProjects(), list[ProjectInfo])) == 1


def test_a_host_that_is_not_there_is_told(engine: RunningEngine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    error = refusal(engine.start(), f"http://127.0.0.1:{port}/m.json")
    assert error.message == Message("host_unreachable", {"host": "127.0.0.1"})


def test_a_server_that_never_answers_holds_up_neither_others_nor_quit(engine: RunningEngine) -> None:
    engine.start()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/m.json"
        waiting = threading.Thread(target=lambda: _ignoring_errors(engine, url))
        waiting.start()
        held, _ = silent.accept()
        assert engine.snapshot().state == "idle"
        assert engine.quit() == 0
        waiting.join(10)
        held.close()


def _ignoring_errors(engine: RunningEngine, url: str) -> None:
    with pytest.raises(WorldError):
        engine.ask(AddProject(url), ProjectInfo)


def test_a_stranger_cannot_take_the_place_of_a_project(engine: RunningEngine, organiser: Organiser) -> None:
    engine.start().ask(JoinProject(organiser.publish()), ProjectInfo)
    organiser.pages["other.json"] = organiser.pages["m.json"]
    error = refusal(engine, organiser.url("other.json"))
    assert error.message.kind == "project_id_taken"
    error = refusal(engine, organiser.publish(id="practice"))
    assert error.message == Message("practice_id_reserved", {"project": "practice"})


def test_the_address_of_a_hosts_web_page_leads_to_its_manifest(engine: RunningEngine, organiser: Organiser) -> None:
    organiser.pages["index.html"] = b"<!DOCTYPE html><html><title>Poems</title></html>"
    organiser.pages["manifest.json"] = json.dumps(manifest(id="poems", name="Poems")).encode()
    added = engine.start().ask(AddProject(organiser.url("index.html")), ProjectInfo)
    assert (added.id, added.source) == ("poems", organiser.url("manifest.json"))


def test_another_page_or_file_is_no_project(engine: RunningEngine, organiser: Organiser, tmp_path: Path) -> None:
    organiser.pages["index.html"] = b"\n<html>Cats</html>"
    (tmp_path / "cats.txt").write_text("cats")
    (tmp_path / "cats.json").write_text('{"cats": 9}')
    engine.start()
    sources = organiser.url("index.html"), str(tmp_path / "cats.txt"), str(tmp_path / "cats.json")
    for source in sources:
        said = sentence(refusal(engine, source).message)
        assert said.startswith(f"This is not an Idlehive project: {source}.")
        assert "https://example.org/manifest.json" in said

"""Projects that are broken, wrong or away: one sentence, and nothing is lost."""

import json
from typing import Any

import pytest

from tests.end_to_end.machine import PRACTICE, Machine, Participant
from tests.end_to_end.projects import manifest, project, site
from tests.end_to_end.refusals.refusals import Spoil, failing, nothing_lost, published, refused, stop
from tests.fakes.http_server import answer, refusing_port, serving

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("verb", [("contribute",), ("projects", "add"), ("projects", "join")])
def test_a_broken_manifest_names_the_field(machine: Machine, ann: Participant, verb: tuple[str, ...]) -> None:
    broken = manifest(project(machine.folder, id="bees"), machine.folder / "state")
    broken["training"]["microbatch_size"] = "sixteen"
    file = machine.folder / "bees.json"
    file.write_text(json.dumps(broken))
    with serving(answer(200, json.dumps(broken).encode())) as server, nothing_lost(ann):
        for source in (str(file), server.url("bees.json")):
            assert "$.training.microbatch_size: Expected int, got str" in refused(ann.run(*verb, source), 2)
    machine.wait_until_nothing_is_left()


def test_what_is_no_manifest_at_all_is_refused(machine: Machine, ann: Participant) -> None:
    file = machine.folder / "page.json"
    file.write_text("<html>Not found</html>")
    with serving(answer(200, file.read_bytes())) as server, nothing_lost(ann):
        for source in (str(file), server.url("page.json")):
            told = refused(ann.run("contribute", source), 2)
            assert told.startswith(f"idlehive: This is not an Idlehive project: {source}. An address looks like ")


def test_a_project_that_cannot_be_reached_is_told(machine: Machine, ann: Participant) -> None:
    with nothing_lost(ann), refusing_port() as nobody:
        url = f"http://127.0.0.1:{nobody}/manifest.json"
        for verb in (("contribute",), ("projects", "add")):
            told = refused(ann.run(*verb, url), 1)
            assert told == "idlehive: 127.0.0.1 cannot be reached. Check the address and the connection."
    machine.wait_until_nothing_is_left()


def spoil_architecture(plain: dict[str, Any]) -> None:
    plain["model"]["architecture"] = "AlbertForMaskedCats"


def spoil_vocabulary(plain: dict[str, Any]) -> None:
    plain["model"]["config"]["vocab_size"] = 500


def spoil_configuration(plain: dict[str, Any]) -> None:
    plain["model"]["config"]["hidden_sise"] = 128


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
    machine: Machine, ann: Participant, spoil: Spoil, field: str
) -> None:
    description, plain = published(machine, spoil)
    with serving(site(description, plain)) as server, nothing_lost(ann):
        told = refused(ann.run("contribute", server.url("manifest.json")), 1)
        assert f"The project's manifest is not usable: {field}: " in told
    machine.wait_until_nothing_is_left()


@pytest.mark.slow
def test_a_shard_with_the_wrong_hash_is_told_and_thrown_away(machine: Machine, ann: Participant) -> None:
    description, plain = published(machine, lambda _: None)
    right = (PRACTICE / "train-2.txt").read_bytes()
    behave = site(description, plain, train_2=right.replace(b"love", b"hate", 1))
    with serving(behave) as server, nothing_lost(ann):
        program, status = failing(ann, server, "wrong SHA-256")
        assert "train-2.txt cannot be fetched from 127.0.0.1" in program.said()
        assert status["state"] == "failed"
        assert "its content is not what the manifest says (wrong SHA-256); it was deleted" in status["error"]
        assert status["retry_at"] is not None
        cached = {path.name for path in ann.home.cache.iterdir()}
        assert plain["data"]["shards"][1]["sha256"] in cached
        assert not [name for name in cached if name.startswith(plain["data"]["shards"][2]["sha256"])]
        stop(program)
    machine.wait_until_nothing_is_left()


@pytest.mark.slow
def test_a_run_whose_peers_do_not_answer_is_told_and_tried_again(machine: Machine, ann: Participant) -> None:
    description, plain = published(machine, lambda _: None)
    with serving(site(description, plain)) as server, nothing_lost(ann):
        program, status = failing(ann, server, "None of the project's peers answers")
        assert status["state"] == "failed"
        assert status["retry_at"] is not None
        stop(program)
    machine.wait_until_nothing_is_left()

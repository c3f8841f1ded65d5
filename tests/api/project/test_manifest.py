"""The manifest's reader against organisers' mistakes and strangers' malice."""

import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.formats.numbers import size
from app.text.messages import sentence
from core.api.errors import ManifestError
from core.api.project.data import JsonLinesData, TextData
from core.api.project.manifest_reading import LARGEST, parse, read_stored
from core.api.project.tasks import CausalLanguageModelling

PEER = "/ip4/192.0.2.1/tcp/31337/p2p/12D3KooWJ7TyrZcJ4BNrUdgCkHQKAzfAzfmAhp2bqMqXWzVvRxFL"
HERE = "https://example.org/projects/manifest.json"
SAMPLE: dict[str, Any] = {
    "format": 1,
    "id": "sample",
    "name": "Sample",
    "summary": "Learns nothing.",
    "organiser": "Nobody",
    "license": "CC0-1.0",
    "run_id": "sample-1",
    "model": {"architecture": "AlbertForMaskedLM", "config": {"hidden_size": 32, "max_position_embeddings": 64}},
    "tokenizer": {"url": "data/tokenizer.json", "sha256": "0" * 64, "size": 10},
    "task": {"type": "masked_language_modelling", "sequence_length": 64},
    "data": {"shards": [{"url": "data/a.txt", "sha256": "1" * 64, "size": 20}]},
    "training": {
        "target_batch_size": 512,
        "microbatch_size": 16,
        "optimizer": {"type": "lamb", "learning_rate": 0.01},
        "schedule": {"warmup_epochs": 5, "total_epochs": 100},
    },
    "initial_peers": [PEER],
    "curve": "curve.json",
}


def changed(path: str, value: object) -> bytes:
    """The sample as JSON, with the value at the dotted path replaced or added."""
    document = copy.deepcopy(SAMPLE)
    place: Any = document
    *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
    for part in way:
        place = place[part]
    place[last] = value
    return json.dumps(document).encode()


def error_of(text: bytes, base_url: str | None = HERE) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        parse(text, base_url)
    assert str(caught.value).count("\n") == 0
    assert caught.value.field in str(caught.value)
    return caught.value


def test_a_sample_is_read_with_absolute_urls() -> None:
    manifest = parse(json.dumps(SAMPLE).encode(), HERE)
    assert manifest.tokenizer is not None
    assert manifest.tokenizer.url == "https://example.org/projects/data/tokenizer.json"
    assert manifest.data.shards[0].url == "https://example.org/projects/data/a.txt"
    assert manifest.curve == "https://example.org/projects/curve.json"
    assert manifest.training.optimizer.betas == (0.9, 0.999)


@pytest.mark.parametrize(
    ("path", "value", "field", "words"),
    [
        ("training.target_batch_size", 0, "$.training.target_batch_size", "Expected int >= 1"),
        ("training.target_batch_size", "512", "$.training.target_batch_size", "Expected int, got str"),
        ("training.target_batch_size", 512.0, "$.training.target_batch_size", "Expected int, got float"),
        ("training.microbatch_size", 513, "$.training.microbatch_size", "larger than target_batch_size, 512"),
        ("training.schedule.warmup_epochs", 101, "$.training.schedule.warmup_epochs", "larger than total_epochs"),
        ("training.optimizer.betas", [0.9, 1.0], "$.training.optimizer.betas[1]", "< 1"),
        ("training.optimizer.type", "sam", "$.training.optimizer.type", "'sam'"),
        ("training.optimizer.gradient_norm", float("inf"), "$.training.optimizer.gradient_norm", "finite"),
        ("training.optimizer.learning_rate", float("nan"), "$.training.optimizer.learning_rate", "finite"),
        ("training.optimizer.colour", 1, "$.training.optimizer.colour", "not a known field"),
        ("colour", 1, "$.colour", "not a known field"),
        ("task.sequence_length", 65, "$.task.sequence_length", "number of positions, 64"),
        ("id", "../escape", "$.id", "lower-case letters, digits and hyphens"),
        ("run_id", "a/b", "$.run_id", "letters, digits, hyphens and underscores"),
        ("tokenizer.sha256", "../../etc/passwd", "$.tokenizer.sha256", "SHA-256"),
        ("tokenizer.size", 0, "$.tokenizer.size", ">= 1"),
        ("tokenizer.size", 1 << 70, "$.tokenizer.size", "64 bits"),
        ("tokenizer.url", "file:///etc/passwd", "$.tokenizer.url", "Only http and https"),
        ("tokenizer.url", "ftp://example.org/a", "$.tokenizer.url", "Only http and https"),
        ("tokenizer.url", "https://user:secret@example.org/a", "$.tokenizer.url", "user name"),
        ("tokenizer.url", "http://[::1/a", "$.tokenizer.url", "not a URL"),
        ("tokenizer.url", "http://example.org:99999/a", "$.tokenizer.url", "not a URL"),
        ("tokenizer.url", "http:///a", "$.tokenizer.url", "not a URL"),
        ("curve", "javascript:alert(1)", "$.curve", "Only http and https"),
        ("data.shards", [], "$.data.shards", "length >= 1"),
        ("model.architecture", "os.system", "$.model.architecture", "transformers model class"),
        ("model.config", {"auto_map": {}}, "$.model.config.auto_map", "not allowed"),
        (
            "model.config",
            {"a": [{"quantization_config": {}}]},
            "$.model.config.a[0].quantization_config",
            "not allowed",
        ),
        ("model.config", {"_name_or_path": "x"}, "$.model.config._name_or_path", "not allowed"),
        ("model.config", {"attn_implementation": "a/b"}, "$.model.config.attn_implementation", "not allowed"),
        ("name", "evil \x1b[2J", "$.name", "control character"),
        ("name", "\ud800", "$.name", "surrogate"),
        ("initial_peers", [], "$.initial_peers", "nobody could find the run"),
        ("averaging", {"compression": "blockwise8bit"}, "$.averaging.compression", "blockwise8bit"),
        ("format", 2, "$.format", "newer Idlehive"),
        ("format", True, "$.format", "got bool"),
    ],
)
def test_a_broken_manifest_names_the_field(path: str, value: object, field: str, words: str) -> None:
    error = error_of(changed(path, value))
    assert error.field == field
    assert words in sentence(error.problem)


@pytest.mark.parametrize("name", [name for name in SAMPLE if name != "curve"])
def test_a_missing_field_is_named(name: str) -> None:
    error = error_of(json.dumps({key: value for key, value in SAMPLE.items() if key != name}).encode())
    assert (error.field, sentence(error.problem)) == (f"$.{name}", "It is missing.")


@pytest.mark.parametrize(
    "address",
    [
        PEER.partition("/p2p/")[0],
        PEER.replace("192.0.2.1", "192.0.2.999"),
        PEER.replace("192.0.2.1", "2001:db8::1"),
        PEER.replace("31337", "0"),
        PEER.replace("31337", "70000"),
        PEER + "\n",
        "--config=/etc/passwd",
        "",
    ],
)
def test_an_initial_peer_that_is_no_multiaddress_is_named(address: str) -> None:
    assert error_of(changed("initial_peers", [PEER, address])).field == "$.initial_peers[1]"


@pytest.mark.parametrize("kind", ["/ip6/2001:db8::1", "/dns/example.org", "/dns4/example.org", "/ip4/127.0.0.1"])
def test_every_kind_of_address_is_taken(kind: str) -> None:
    address = PEER.replace("/ip4/192.0.2.1", kind)
    assert parse(changed("initial_peers", [address]), HERE).initial_peers == (address,)


def test_a_closed_project_needs_no_peers() -> None:
    document = {**SAMPLE, "initial_peers": [], "closed": True}
    assert parse(json.dumps(document).encode(), HERE).closed


def test_a_repeated_key_is_named() -> None:
    text = json.dumps(SAMPLE).replace('"size": 10', '"size": 10, "size": 11').encode()
    error = error_of(text)
    assert (error.field, sentence(error.problem)) == ("$.tokenizer.size", "It is given twice.")


def test_a_relative_url_needs_a_base() -> None:
    assert error_of(json.dumps(SAMPLE).encode(), None).field == "$.tokenizer.url"
    assert error_of(json.dumps(SAMPLE).encode(), "file:///home/someone/manifest.json").field == "$.tokenizer.url"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "not JSON"),
        (b"<!doctype html><title>404</title>", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "Expected object, got array"),
        (b"[" * 500_000, "deeper than"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "deeper than"),
        (b"9" * 5000, "digits"),
        (b" " * (LARGEST + 1), f"larger than {size(LARGEST)}"),
    ],
    ids=["empty", "html", "utf16", "array", "brackets", "deep", "digits", "large"],
)
def test_what_is_no_manifest_at_all_is_one_sentence(text: bytes, words: str) -> None:
    error = error_of(text)
    assert error.field.startswith("$")
    assert words in sentence(error.problem)
    assert len(str(error)) < 400


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists)


@given(path=st.sampled_from([*SAMPLE, "model.config", "data.shards", "training.optimizer", "task.type"]), value=JSON)
def test_any_value_anywhere_is_refused_by_a_manifest_error_or_reads_back(path: str, value: object) -> None:
    text = changed(path, value)
    try:
        manifest = parse(text, HERE)
    except ManifestError:
        return
    assert parse(msgspec.json.encode(manifest), HERE) == manifest


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_manifest_error(text: bytes) -> None:
    error_of(text)


CAUSAL = {
    **SAMPLE,
    "model": {"architecture": "GPT2LMHeadModel", "config": {"n_positions": 64}},
    "task": {"type": "causal_language_modelling", "sequence_length": 64, "separator": "<|endoftext|>"},
    "data": {"type": "json_lines", "field": "body", **SAMPLE["data"]},
}


def test_a_manifest_of_another_task_and_kind_of_data_is_read_and_written() -> None:
    manifest = parse(json.dumps(CAUSAL).encode(), HERE)
    assert isinstance(manifest.task, CausalLanguageModelling)
    assert isinstance(manifest.data, JsonLinesData)
    assert parse(msgspec.json.encode(manifest)) == manifest
    assert read_stored(msgspec.json.encode(manifest).decode()) == manifest


@pytest.mark.parametrize(
    ("task", "field"),
    [
        ({"sequence_length": 65}, "$.task.sequence_length"),
        ({"mask_probability": 0.15}, "$.task.mask_probability"),
        ({"type": "image_classification"}, "$.task.type"),
    ],
)
def test_a_task_refuses_what_does_not_fit_it(task: dict[str, Any], field: str) -> None:
    assert error_of(json.dumps({**CAUSAL, "task": {**CAUSAL["task"], **task}}).encode()).field == field


def test_a_manifest_from_before_there_were_kinds_of_data_means_text() -> None:
    assert "type" not in SAMPLE["data"]
    manifest = parse(json.dumps(SAMPLE).encode(), HERE)
    assert isinstance(manifest.data, TextData)
    stored = msgspec.to_builtins(manifest)
    del stored["data"]["type"]
    assert read_stored(json.dumps(stored)) == manifest

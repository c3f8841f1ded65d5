"""From an organiser's TOML to the manifest that volunteers read."""

import hashlib
import re
import tomllib
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from pyarrow import parquet

from app.text.messages import sentence
from core.api.errors import UsageError, WorldError
from core.api.project.data import Mixture, TextData
from core.api.project.manifest_reading import parse
from core.api.project.tasks import CausalLanguageModelling
from core.host.project import Host, load, run_id_of

PRACTICE = Path(__file__).parents[3] / "resources" / "practice"
PEER = "/ip4/192.0.2.1/tcp/31337/p2p/12D3KooWJ7TyrZcJ4BNrUdgCkHQKAzfAzfmAhp2bqMqXWzVvRxFL"
OTHER = PEER.replace("192.0.2.1", "192.0.2.2")
TOML = f"""
format = 1
id = "sample"
name = "Sample"
summary = "Learns nothing."
organiser = "Nobody"
license = "CC0-1.0"
tokenizer = "tokenizer.json"
model = {{ architecture = "AlbertForMaskedLM" }}
task = {{ type = "masked_language_modelling", sequence_length = 64 }}
data = {{ shards = ["train-*.txt"], held_out = "held out ü.txt" }}

[training]
target_batch_size = 512
microbatch_size = 16
optimizer = {{ type = "lamb", learning_rate = 0.01 }}

[host]
extra_peers = ["{OTHER}"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder with a TOML that is right."""
    for name in ("tokenizer.json", "train-0.txt", "train-1.txt", "held out ü.txt"):
        (tmp_path / name).write_text(f"{name}\n")
    path = tmp_path / "project.toml"
    path.write_text(TOML)
    return path


def rewritten(path: Path, old: str, new: str) -> Path:
    assert old in TOML
    path.write_text(TOML.replace(old, new))
    return path


def test_a_manifest_made_of_a_toml_is_read_back_with_urls_of_the_files(project: Path, tmp_path: Path) -> None:
    loaded = load(project)
    made = loaded.manifest(tmp_path / "state", [PEER])
    manifest = parse(msgspec.json.encode(made), "http://192.0.2.1:8080/manifest.json")
    assert manifest.initial_peers == (PEER, OTHER)
    assert manifest.curve == "http://192.0.2.1:8080/curve.json"
    for file in manifest.needed_files(manifest.data.portions[0]):
        local = loaded.files[file.url.removeprefix("http://192.0.2.1:8080/data/")]
        content = local.path.read_bytes()
        assert (file.sha256, file.size) == (hashlib.sha256(content).hexdigest(), len(content))
    assert [loaded.files[shard.url.rpartition("/")[2]].path.name for shard in manifest.data.shards] == [
        "train-0.txt",
        "train-1.txt",
    ]


ELSEWHERE = {"url": "https://example.org/0001.parquet", "sha256": "a" * 64, "size": 1000}


def test_shards_may_be_elsewhere(project: Path, tmp_path: Path) -> None:
    table = '{ url = "https://example.org/0001.parquet", sha256 = "' + "a" * 64 + '", size = 1000 }'
    loaded = load(rewritten(project, "shards = [", f"shards = [{table}, "))
    shard, *others = loaded.manifest(tmp_path, [PEER]).data.shards
    assert msgspec.to_builtins(shard) == ELSEWHERE
    assert others
    assert all(file.size != 1000 for file in loaded.files.values())


@pytest.mark.parametrize("wrong", ['{ url = "x" }', '{ url = "x", sha256 = "b", size = 1 }', "7"])
def test_a_wrong_table_of_a_shard_is_named(project: Path, wrong: str) -> None:
    with pytest.raises(UsageError, match=r"field=data\.shards\[0\]"):
        load(rewritten(project, "shards = [", f"shards = [{wrong}, "))


@pytest.mark.parametrize(
    ("data", "field", "problem"),
    [
        ('type = "parquet", field = "body"', "data.field", "column_missing"),
        ('type = "parquet", field = "text"', "data.shards", "shard_not_readable"),
        ('compression = "gzip"', "data.shards", "shard_not_readable"),
    ],
)
def test_files_of_another_kind_than_the_toml_says_are_refused_with_the_field(
    project: Path, data: str, field: str, problem: str
) -> None:
    if "body" in data:
        for file in project.parent.glob("train-*.txt"):
            parquet.write_table(pa.table({"text": ["a", file.name]}), file)
    with pytest.raises(UsageError, match=f"field={field} .*{problem}"):
        load(rewritten(project, ', held_out = "held out ü.txt"', f", {data}"))


def test_two_state_folders_are_two_runs_and_one_folder_stays_one_run(project: Path, tmp_path: Path) -> None:
    loaded = load(project)
    first, second, again = (loaded.manifest(tmp_path / name, [PEER]).run_id for name in ("a", "b", "a"))
    assert first != second
    assert first == again
    assert first.startswith("sample-")


def test_a_run_id_in_the_toml_is_kept(project: Path, tmp_path: Path) -> None:
    loaded = load(rewritten(project, 'id = "sample"', 'id = "sample"\nrun_id = "second-try"'))
    assert loaded.manifest(tmp_path / "state", [PEER]).run_id == "second-try"
    assert not (tmp_path / "state").exists()


def test_a_broken_run_id_file_is_not_replaced_silently(tmp_path: Path) -> None:
    (tmp_path / "run_id").write_text("")
    with pytest.raises(WorldError, match="run_id_missing"):
        run_id_of("sample", tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("target_batch_size = 512", "target_batch_size = 0", "training.target_batch_size: Expected int >= 1."),
        ("microbatch_size = 16", "", "training.microbatch_size: It is missing."),
        ('name = "Sample"', 'name = "Sample"\ncolour = "red"', "colour: It is not a known field."),
        ('"tokenizer.json"', "7", "tokenizer: Expected the path of a file."),
        ('"tokenizer.json"', '"absent.json"', "tokenizer: "),
        ('["train-*.txt"]', '["texts-*.txt"]', "data.shards[0]: No file matches “texts-*.txt”."),
        ('["train-*.txt"]', '["absent.txt"]', "data.shards[0]: "),
        ('["train-*.txt"]', '"train-*.txt"', "data.shards: Expected a list"),
        ('["train-*.txt"]', '["/etc/*"]', "data.shards[0]: The pattern must be relative"),
        ('["train-*.txt"]', '["."]', "data.shards[0]: "),
        ('["train-*.txt"]', '["*.txt"]', "data.shards: held out ü.txt is the held-out text itself."),
        (f'["{OTHER}"]', '["192.0.2.1"]', "host.extra_peers[0]: Expected a multiaddress"),
        ("[host]", "[host]\ncheckpoint_every = 0", "host.checkpoint_every: Expected int >= 1."),
        ("[host]", "[host]\ncolour = 1", "host: Object contains unknown field colour."),
        ("format = 1", f'format = 1\ninitial_peers = ["{PEER}"]', "initial_peers: The backbone adds itself"),
        ("format = 1", "format = 1\nclosed = 2026-01-01", "closed: JSON has no values of the type date."),
        ("format = 1", "format = ", "is not TOML: "),
    ],
)
def test_a_wrong_toml_is_answered_with_one_sentence_that_names_the_field(
    project: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load(rewritten(project, old, new))
    said = sentence(caught.value.message)
    assert words in said
    assert str(project) in said
    assert "\n" not in said


def test_a_shard_that_is_no_text_is_named(project: Path) -> None:
    (project.parent / "train-1.txt").write_bytes(b"good \xff bad")
    with pytest.raises(UsageError, match=r"data\.shards.*file_not_unicode path=train-1\.txt"):
        load(project)


def test_an_empty_shard_is_named(project: Path) -> None:
    (project.parent / "train-1.txt").write_bytes(b"")
    with pytest.raises(UsageError, match=r"data\.shards.*file_empty path=train-1\.txt"):
        load(project)


def test_a_missing_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^file_unreadable path=.*absent\.toml detail=No such file"):
        load(tmp_path / "absent.toml")


def test_the_example_in_docs_is_right_and_names_all_of_the_host_s_table(project: Path) -> None:
    docs = Path(__file__).parents[3] / "docs" / "hosting.md"
    example, _causal = re.findall(r"```toml\n(.*?)```", docs.read_text(), re.DOTALL)
    (project.parent / "held-out.txt").write_text("unseen\n")
    project.write_text(example)
    loaded = load(project)
    assert loaded.template.id == "shakespeare"
    assert loaded.state() == project.parent / "shakespeare-state"
    assert set(tomllib.loads(example)["host"]) == set(Host.__struct_fields__)


def test_the_practice_project_is_right(tmp_path: Path) -> None:
    practice = load(PRACTICE / "project.toml")
    manifest = practice.manifest(tmp_path, [PEER])
    assert parse(msgspec.json.encode(manifest), "http://127.0.0.1:1/").id == "shakespeare"
    assert len(manifest.data.shards) == 4
    assert isinstance(manifest.data, TextData)
    assert manifest.data.held_out
    assert practice.state() == PRACTICE / "shakespeare-state"


def test_the_example_of_the_second_task_is_right(tmp_path: Path) -> None:
    manifest = load(PRACTICE.parent / "projects" / "next-token" / "project.toml").manifest(tmp_path, [PEER])
    assert parse(msgspec.json.encode(manifest), "http://127.0.0.1:1/").task == manifest.task
    assert isinstance(manifest.task, CausalLanguageModelling)
    assert len(manifest.data.shards) == 4


MIXTURE = """data = { type = "mixture", parts = [
    { weight = 1, data = { type = "text", shards = ["train-0.txt"], held_out = "held out ü.txt" } },
    { weight = 3, data = { type = "json_lines", shards = ["train-1.txt"] } },
] }"""
DATA = 'data = { shards = ["train-*.txt"], held_out = "held out ü.txt" }'


def test_the_files_of_every_part_of_a_mixture_are_published(project: Path, tmp_path: Path) -> None:
    loaded = load(rewritten(project, DATA, MIXTURE))
    manifest = loaded.manifest(tmp_path / "state", [PEER])
    assert parse(msgspec.json.encode(manifest), "http://192.0.2.1/manifest.json").data != manifest.data
    assert isinstance(manifest.data, Mixture)
    assert [loaded.path_of(shard).name for shard in manifest.data.shards] == ["train-0.txt", "train-1.txt"]
    assert len(loaded.files) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"train-1.txt"', '"train-9.txt"', "data.parts[1].data.shards[0]"),
        ('"train-1.txt"', '"held out ü.txt"', "data.parts[1].data.shards"),
        ("weight = 3", "weight = 0", "data.parts[1].weight"),
        ('"json_lines"', '"mixture"', "data.parts[1].data.type"),
    ],
)
def test_a_wrong_part_of_a_mixture_is_named(project: Path, old: str, new: str, message: str) -> None:
    assert old in MIXTURE
    with pytest.raises(UsageError) as raised:
        load(rewritten(project, DATA, MIXTURE.replace(old, new)))
    assert raised.value.message.params["field"] == message


def test_the_practice_tokenizer_is_the_one_its_script_makes() -> None:
    import runpy

    made = runpy.run_path(str(PRACTICE / "make_tokenizer.py"))["make"](sorted(PRACTICE.glob("train-*.txt")))
    assert made.to_str(pretty=True) == (PRACTICE / "tokenizer.json").read_text()
    assert [made.token_to_id(token) for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")] == [0, 1, 2, 3, 4]
    assert made.get_vocab_size() == 2000

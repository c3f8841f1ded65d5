"""Samples of a project's shards, by kind of data."""

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import get_args

import pytest

from core.api.errors import WorldError
from core.api.project.data import Data, JsonLinesData, Mixture, Part, TextData
from core.api.project.fields import File
from core.learning.data import held_out_samples, source_for, training_samples
from core.learning.data.json_lines import JsonLinesSource
from core.learning.data.source import Source, once, stream
from core.learning.data.text import TextSource

FILES = (File("a", "0" * 64, 1),)
TEXT = source_for(TextData(FILES))


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for number, path in enumerate(paths):
        lines = [f"{number}-{line} " + "é" * (line % 90) for line in range(500 + number)]
        path.write_text("\n".join(lines) + ("\n" if number else ""), encoding="utf-8")
    return paths


def test_every_pass_has_every_line_once_in_an_order_of_its_own(shards: list[Path]) -> None:
    per_pass = sum(1 for shard in shards for _ in once(TEXT, shard))
    samples = stream(TEXT, shards, seed=7)
    passes = [list(islice(samples, per_pass)) for _ in range(3)]
    everything = sorted(line for shard in shards for line in shard.read_text().splitlines())
    for one in passes:
        assert sorted(line for text in one for line in text.splitlines()) == everything
    assert passes[0] != passes[1] != passes[2]


def test_a_seed_decides_the_order(shards: list[Path]) -> None:
    first, again, other = (list(islice(stream(TEXT, shards, seed), 50)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_line_longer_than_a_block_is_cut_between_characters(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("ü€😀" * 5000, encoding="utf-8")
    parts = list(once(TextSource(TextData(FILES), 100), path))
    assert "".join(parts) == path.read_text()
    assert max(len(part.encode()) for part in parts) <= 104


@pytest.mark.parametrize("block", [4, 5, 7, 64, 5000])
def test_no_block_size_loses_or_repeats_a_byte(tmp_path: Path, block: int) -> None:
    path = tmp_path / "text.txt"
    path.write_text("a\nbb\nccc ddd\n€uro\n" + "x" * 20 + "\nend", encoding="utf-8")
    assert "".join(once(TextSource(TextData(FILES), block), path)) == path.read_text()


def test_shards_without_text_are_an_error_and_not_searched_for_ever(tmp_path: Path) -> None:
    (tmp_path / "blank.txt").write_text("\n \n" * 5000)
    with pytest.raises(WorldError, match="data_without_text"):
        next(stream(TEXT, [tmp_path / "blank.txt"], seed=0))
    with pytest.raises(WorldError, match="data_without_text"):
        next(stream(TEXT, [], seed=0))


def test_a_shard_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("text\n")
    samples = stream(TEXT, [tmp_path / "here.txt"], seed=0)
    next(samples)
    (tmp_path / "here.txt").unlink()
    with pytest.raises(WorldError, match=r"shard_not_readable .*here\.txt detail=No such file"):
        next(samples)


@pytest.mark.parametrize("block", [4, 7, 64, 5000])
def test_json_lines_give_each_text_once_and_leave_out_what_is_none(tmp_path: Path, block: int) -> None:
    path = tmp_path / "texts.jsonl"
    texts = [f"text {number} " + "é" * number for number in range(40)]
    lines = [f'{{"id": {number}, "body": "{text}"}}' for number, text in enumerate(texts)]
    none = ["not JSON", '{"id": 7}', '{"body": 3}', "[]", '{"body": "not UTF-8 \udcff"}', '{"id": ' + "[" * 9999]
    path.write_text("\n".join([*none, *lines, '{"body": "  "}']), encoding="utf-8", errors="surrogateescape")
    source = JsonLinesSource(JsonLinesData(FILES, field="body"), block)
    assert list(once(source, path)) == texts
    per_pass = list(islice(stream(source, [path], seed=1), len(texts)))
    assert sorted(per_pass) == sorted(texts)
    assert (per_pass != texts) == (block < 5000)


def test_every_kind_of_data_of_a_manifest_has_a_source() -> None:
    for kind in set(get_args(Data)) - {Mixture}:
        assert isinstance(source_for(kind(FILES)), Source)


@pytest.fixture
def mixture(tmp_path: Path) -> tuple[Mixture, list[Path]]:
    """Shards of one letter each: a and b are three times as frequent as c."""
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_text(f"{path.name}\n" * 5000)
    part = TextData(FILES, block=256)
    return Mixture((Part(3.0, TextData(FILES * 2, held_out=FILES[0], block=256)), Part(1.0, part))), paths


def test_a_mixture_takes_its_texts_by_weight_from_each_collection(mixture: tuple[Mixture, list[Path]]) -> None:
    declared, paths = mixture
    assert len(declared.shards) == len(paths)
    drawn = Counter(text[0] for text in islice(training_samples(declared, paths, seed=1), 4000))
    assert drawn["a"] + drawn["b"] == pytest.approx(3000, abs=120)
    assert drawn["a"] == pytest.approx(drawn["b"], abs=150)
    assert drawn["c"] == pytest.approx(1000, abs=120)


def test_a_seed_decides_what_a_mixture_draws(mixture: tuple[Mixture, list[Path]]) -> None:
    first, again, other = (list(islice(training_samples(*mixture, seed), 50)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_held_out_samples_are_those_of_every_part_that_has_some(mixture: tuple[Mixture, list[Path]]) -> None:
    declared, paths = mixture
    samples = held_out_samples(declared, lambda _: paths[1])
    assert samples is not None
    assert "".join(samples()) == "".join(samples()) == paths[1].read_text()
    assert held_out_samples(TextData(FILES), lambda _: paths[1]) is None

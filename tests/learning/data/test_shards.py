"""The stream of texts from shards."""

from itertools import islice
from pathlib import Path

import pytest

from core.api.errors import WorldError
from core.learning.data.shards import text_stream, texts


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for number, path in enumerate(paths):
        lines = [f"{number}-{line} " + "é" * (line % 90) for line in range(500 + number)]
        path.write_text("\n".join(lines) + ("\n" if number else ""), encoding="utf-8")
    return paths


def test_every_pass_has_every_line_once_in_an_order_of_its_own(shards: list[Path]) -> None:
    per_pass = sum(1 for shard in shards for text in texts(shard) if text.strip())
    stream = text_stream(shards, seed=7)
    passes = [list(islice(stream, per_pass)) for _ in range(3)]
    everything = sorted(line for shard in shards for line in shard.read_text().splitlines())
    for one in passes:
        assert sorted(line for text in one for line in text.splitlines()) == everything
    assert passes[0] != passes[1] != passes[2]


def test_a_seed_decides_the_order(shards: list[Path]) -> None:
    first, again, other = (list(islice(text_stream(shards, seed), 50)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_line_longer_than_a_block_is_cut_between_characters(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("ü€😀" * 5000, encoding="utf-8")
    parts = list(texts(path, block=100))
    assert "".join(parts) == path.read_text()
    assert max(len(part.encode()) for part in parts) <= 104


@pytest.mark.parametrize("block", [4, 5, 7, 64, 5000])
def test_no_block_size_loses_or_repeats_a_byte(tmp_path: Path, block: int) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\n\na\nbb\n\nccc ddd\n€uro\n" + "x" * 20 + "\nend", encoding="utf-8")
    assert "".join(texts(path, block)) == path.read_text()


def test_shards_without_text_are_told_instead_of_searched_for_ever(tmp_path: Path) -> None:
    (tmp_path / "blank.txt").write_text("\n \n" * 5000)
    with pytest.raises(WorldError, match="holds no text"):
        next(text_stream([tmp_path / "blank.txt"], seed=0))
    with pytest.raises(WorldError, match="holds no text"):
        next(text_stream([], seed=0))


def test_a_shard_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("text\n")
    stream = text_stream([tmp_path / "here.txt"], seed=0)
    next(stream)
    (tmp_path / "here.txt").unlink()
    with pytest.raises(WorldError, match=r"here\.txt cannot be read: No such file"):
        next(stream)

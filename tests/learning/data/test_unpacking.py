"""Compressed shards: read as if they were not, and decompression bombs are refused."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from core.api.errors import ManifestError, WorldError
from core.api.project.data import Compression, JsonLinesData, TextData
from core.api.project.fields import File
from core.learning.data import source_for
from core.learning.data.source import once, size_of
from core.learning.data.unpacking import SUFFIX, unpacked

FILES = (File("a", "0" * 64, 1),)
LINES = "".join(f"line {number} é\n" for number in range(20_000))
KINDS: list[Compression] = ["gzip", "zstd"]


def packed(folder: Path, text: bytes, compression: str, name: str = "shard") -> Path:
    path = folder / name
    with pa.output_stream(path, compression=compression) as file:
        file.write(text)
    return path


@pytest.mark.parametrize("compression", KINDS)
def test_a_compressed_shard_has_the_samples_of_the_plain_one(tmp_path: Path, compression: Compression) -> None:
    shard, plain = packed(tmp_path, LINES.encode(), compression), tmp_path / "plain"
    plain.write_text(LINES)
    assert shard.stat().st_size < plain.stat().st_size / 3
    source = source_for(TextData(FILES, compression=compression))
    source.check(shard)
    assert list(once(source, shard)) == list(once(source_for(TextData(FILES)), plain))
    objects = packed(tmp_path, b'{"text": "one"}\n{"text": "two"}\n', compression, "objects")
    assert list(once(source_for(JsonLinesData(FILES, compression=compression)), objects)) == ["one", "two"]


@pytest.mark.parametrize("compression", KINDS)
def test_room_is_made_for_exactly_what_is_unpacked_and_only_once(tmp_path: Path, compression: Compression) -> None:
    shard, asked = packed(tmp_path, LINES.encode(), compression), list[int]()
    for _ in range(2):
        assert size_of(unpacked(shard, compression, asked.append)) == len(LINES.encode())
    assert asked == [len(LINES.encode())]


@pytest.mark.parametrize("left", [b"", LINES.encode()[:5000]])
def test_an_unpacked_file_that_is_not_whole_is_made_again(tmp_path: Path, left: bytes) -> None:
    shard = packed(tmp_path, LINES.encode(), "zstd")
    source = source_for(TextData(FILES, compression="zstd"))
    whole = unpacked(shard, "zstd")
    assert source.is_ready(shard)
    whole.write_bytes(left)
    assert not source.is_ready(shard)
    assert unpacked(shard, "zstd").read_text() == LINES
    assert source.is_ready(shard)


def test_the_bytes_are_on_the_disk_before_the_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = set[tuple[int, int]]()

    def fsync(descriptor: int, real: Callable[[int], None] = os.fsync) -> None:
        real(descriptor)
        synced.add((os.fstat(descriptor).st_ino, os.fstat(descriptor).st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    whole = unpacked(packed(tmp_path, LINES.encode(), "gzip"), "gzip").stat()
    assert (whole.st_ino, whole.st_size) in synced


@pytest.mark.parametrize("compression", KINDS)
def test_a_decompression_bomb_is_refused_and_leaves_nothing(tmp_path: Path, compression: Compression) -> None:
    bomb = packed(tmp_path, bytes(200 << 20), compression)
    assert bomb.stat().st_size < 1 << 20
    source = source_for(TextData(FILES, compression=compression))
    with pytest.raises(WorldError, match="shard_unpacks_too_large"):
        list(once(source, bomb))
    with pytest.raises(ManifestError, match="shard_unpacks_too_large") as raised:
        source.check(bomb)
    assert raised.value.field == "$.data.shards"
    assert list(tmp_path.iterdir()) == [bomb]


@pytest.mark.parametrize("compression", KINDS)
def test_other_files_and_cut_ones_are_refused_and_leave_nothing(tmp_path: Path, compression: Compression) -> None:
    whole = packed(tmp_path, LINES.encode(), compression).read_bytes()
    for content in (b"plain text\n" * 100, whole[: len(whole) // 2]):
        (tmp_path / "shard").write_bytes(content)
        with pytest.raises(WorldError, match="shard_not_readable"):
            list(once(source_for(TextData(FILES, compression=compression)), tmp_path / "shard"))
    assert [path.name for path in tmp_path.iterdir()] == ["shard"]


def test_several_members_of_gzip_are_one_text(tmp_path: Path) -> None:
    (tmp_path / "shard").write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    assert unpacked(tmp_path / "shard", "gzip").read_text() == "one\ntwo\n"
    assert unpacked(tmp_path / "shard", "gzip").name == f"shard{SUFFIX}"


def test_an_organisers_compressed_file_has_to_be_text(tmp_path: Path) -> None:
    shard = packed(tmp_path, b"\xff\xfe" * 100, "zstd")
    with pytest.raises(ManifestError, match="file_not_unicode"):
        source_for(TextData(FILES, compression="zstd")).check(shard)

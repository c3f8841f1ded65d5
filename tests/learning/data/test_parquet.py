"""Parquet: the texts of one column, block by block, and what is refused."""

from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from core.api.errors import ManifestError, WorldError
from core.api.project.data import ParquetData
from core.api.project.fields import File
from core.learning.data import source_for
from core.learning.data.source import once, stream

SOURCE = source_for(ParquetData((File("a", "0" * 64, 1),), field="body"))


def written(folder: Path, texts: list[Any], name: str = "train.parquet", **options: Any) -> Path:
    path = folder / name
    columns = {"id": list(range(len(texts))), "body": texts, "meta": [{"url": "x"}] * len(texts)}
    parquet.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
def test_each_text_comes_once_in_a_pass_with_blocks_in_another_order(tmp_path: Path, codec: str) -> None:
    texts = [f"text {number} " + "é" * (number % 50) for number in range(5000)]
    path = written(tmp_path, texts, row_group_size=1500, compression=codec)
    assert SOURCE.blocks(path) == 2 + 2 + 2 + 1
    assert list(once(SOURCE, path)) == texts
    one_pass = list(islice(stream(SOURCE, [path], seed=3), len(texts)))
    assert sorted(one_pass) == sorted(texts)
    assert one_pass != texts


def test_rows_without_text_are_left_out(tmp_path: Path) -> None:
    assert list(once(SOURCE, written(tmp_path, ["a", None, "", " \n", "b" * ((1 << 20) + 1), "c"]))) == ["a", "c"]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 500 + b"PAR1", b"text\n" * 100])
def test_what_is_no_parquet_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(content)
    with pytest.raises(WorldError, match=r"shard_not_readable .*broken\.parquet"):
        list(once(SOURCE, path))
    with pytest.raises(ManifestError, match="shard_not_readable"):
        SOURCE.check(path)


def test_a_damaged_page_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, [f"text {number}" for number in range(1000)], compression="zstd")
    path.write_bytes(path.read_bytes().replace(b"\x28\xb5\x2f\xfd", b"\xff" * 4))
    with pytest.raises(WorldError, match="shard_not_readable"):
        list(once(SOURCE, path))


@pytest.mark.parametrize("column", ["text", "id", "meta"])
def test_a_missing_column_or_one_of_another_type_is_named(tmp_path: Path, column: str) -> None:
    path = written(tmp_path, ["a"])
    with pytest.raises(ManifestError, match=f"column_missing column={column}") as raised:
        source_for(ParquetData((File("a", "0" * 64, 1),), field=column)).check(path)
    assert raised.value.field == "$.data.field"


@pytest.mark.parametrize("rows", [1500, 70_000])
def test_large_strings_and_texts_that_repeat_are_read(tmp_path: Path, rows: int) -> None:
    texts = [f"text {number % 7}" for number in range(rows)]
    path = tmp_path / "large.parquet"
    parquet.write_table(pa.table({"body": pa.array(texts, pa.large_string())}), path, row_group_size=1 << 16)
    assert list(once(SOURCE, path)) == texts


def test_one_very_long_text_to_which_many_rows_point_is_in_memory_once(tmp_path: Path) -> None:
    long, path = 20_000_000, tmp_path / "long.parquet"
    column = pa.DictionaryArray.from_arrays(pa.array([1] + [0] * 63, pa.int32()), pa.array(["x" * long, "short"]))
    whole = {"store_schema": False, "dictionary_pagesize_limit": 1 << 30}
    parquet.write_table(pa.table({"body": column}), path, compression="zstd", **whole)
    before, pool = pa.default_memory_pool(), pa.system_memory_pool()
    pa.set_memory_pool(pool)
    try:
        assert list(once(SOURCE, path)) == ["short"]
    finally:
        pa.set_memory_pool(before)
    assert long < pool.max_memory() < 10 * long


@pytest.mark.parametrize(("rows", "letters"), [((1 << 16) + 1, 1), (40_000, 4000)])
def test_a_row_group_that_is_too_large_is_refused_with_what_would_do(tmp_path: Path, rows: int, letters: int) -> None:
    path = written(tmp_path, [f"{number:0{letters}}" for number in range(rows)], compression="zstd")
    said = f"row_group_too_large path=.* rows={rows} .*most_rows=65536 most=134217728"
    with pytest.raises(WorldError, match=said):
        list(once(SOURCE, path))
    with pytest.raises(ManifestError, match=said):
        SOURCE.check(path)
    assert SOURCE.blocks(written(tmp_path, [f"{number}" for number in range(rows)], row_group_size=1 << 15)) > 1


def test_few_bytes_that_stand_for_very_much_text_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, ["x" * 1_000_000] * 200, compression="zstd")
    assert path.stat().st_size < 100_000, "a dictionary has it once"
    with pytest.raises(WorldError, match="shard_unpacks_too_large"):
        list(once(SOURCE, path))


def test_texts_that_begin_alike_are_refused_where_that_takes_no_bytes(tmp_path: Path) -> None:
    """Decoded, these are a gigabyte."""
    path, begin = tmp_path / "alike.parquet", "x" * 1_000_000
    with parquet.ParquetWriter(
        path, pa.schema([("body", pa.string())]), use_dictionary=False, column_encoding={"body": "DELTA_BYTE_ARRAY"}
    ) as writer:
        writer.write_table(pa.table({"body": [f"{begin}{number}" for number in range(1000)]}))
    assert path.stat().st_size < 2_000_000
    assert refused_within(path, "encoding 7") < 8_000_000


def test_pages_that_are_larger_than_the_footer_says_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    letters = 1_000_000
    path = written(
        tmp_path, [f"{number:0{letters}}" for number in range(150)], compression="zstd", use_dictionary=False
    )
    said = parquet.ParquetFile(path).metadata.row_group(0).column(1).total_uncompressed_size
    assert said > 1 << 27
    content = path.read_bytes()
    assert content.count(varint(2 * said, 5)) == 1
    path.write_bytes(content.replace(varint(2 * said, 5), varint(2 * 1000, 5)))
    assert parquet.ParquetFile(path).metadata.row_group(0).column(1).total_uncompressed_size == 1000
    assert refused_within(path, "row_group_too_large") < 8_000_000


def varint(number: int, size: int) -> bytes:
    """Of so many bytes, as the footer has it."""
    return bytes((number >> 7 * place & 127) | (128 if place < size - 1 else 0) for place in range(size))


def refused_within(path: Path, why: str) -> int:
    """Bytes that Arrow took until it was refused."""
    before, pool = pa.default_memory_pool(), pa.system_memory_pool()
    took = pool.max_memory()
    pa.set_memory_pool(pool)
    try:
        with pytest.raises(WorldError, match=why):
            list(once(SOURCE, path))
    finally:
        pa.set_memory_pool(before)
    return int(pool.max_memory() - took)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"dictionary_pagesize_limit": 100}])
def test_pages_of_all_versions_are_read(tmp_path: Path, version: Any, options: dict[str, Any]) -> None:
    texts = [f"text {number}" for number in range(3000)]
    path = written(tmp_path, texts, data_page_version=version, data_page_size=1000, compression="zstd", **options)
    assert list(once(SOURCE, path)) == texts


def test_a_page_whose_header_is_damaged_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, [f"text {number}" for number in range(1000)], use_dictionary=False)
    begin = parquet.ParquetFile(path).metadata.row_group(0).column(1).data_page_offset
    content = path.read_bytes()
    for damage in (b"\x00", b"\xff" * 40, b"\x1c" * 40, b"\x15\x00\x15\x81" + b"\xff" * 12):
        path.write_bytes(content[:begin] + damage + content[begin + len(damage) :])
        with pytest.raises(WorldError, match="shard_not_readable"):
            list(source_for(ParquetData((File("a", "0" * 64, 1),), field="body")).samples(path, 0))


def test_a_footer_without_the_place_of_the_first_page_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.parquet"
    parquet.write_table(pa.table({"body": ["text"]}), path, use_dictionary=False)
    content = path.read_bytes()
    assert content.count(b"\x26\x08\x3c") == 1, "the offset in the footer"
    path.write_bytes(content.replace(b"\x26\x08\x3c", b"\x26\x00\x3c"))
    assert parquet.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset == 0
    with pytest.raises(ManifestError, match="shard_not_readable"):
        SOURCE.check(path)


def test_a_file_without_rows_has_no_texts(tmp_path: Path) -> None:
    path = tmp_path / "empty.parquet"
    with parquet.ParquetWriter(path, pa.schema([("body", pa.string())])) as writer:
        writer.write_table(writer.schema.empty_table())
    assert list(once(SOURCE, path)) == []

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


def test_few_bytes_that_stand_for_very_much_text_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, ["x" * 1_000_000] * 200, compression="zstd")
    assert path.stat().st_size < 100_000, "a dictionary has it once"
    with pytest.raises(WorldError, match="shard_unpacks_too_large"):
        list(once(SOURCE, path))

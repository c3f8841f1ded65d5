"""The record as a table: as complete as JSON, read back as it was, and refused in a sentence if it is damaged."""

import csv
import io
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.text.messages import sentence
from core.api.errors import UsageError
from core.api.record.totals import GIVEN, Given
from core.store.export import exchange
from core.store.export.history_csv import COLUMNS, as_csv, from_csv
from core.store.export.history_file import File, FileEpoch, FileHour, FileIdle, FileSession, as_json
from core.store.store import Store
from tests.store.export.test_exchange import NOON, empty, full, tables

__all__ = ["empty", "full"]

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
counts = st.integers(0, 1 << 60)
amounts = st.floats(0, 1e30)
times = st.floats(0, 1e11)
hours = st.integers(0, 10**7).map(lambda number: number * 3600)


def figure(name: str, default: float | None) -> st.SearchStrategy[float | None]:
    """One that may stand in an hour under `name`."""
    told = counts if name == "accepted" or isinstance(default, int) else amounts
    return told | st.none() if default is None else told


figures = {name: figure(name, default) for name, default in zip(GIVEN, Given.__struct_defaults__, strict=True)}
sessions = st.builds(
    FileSession, names, names, names, times, times | st.none(), names | st.none(), names | st.none(),
    st.lists(st.builds(FileHour, hour=hours, **figures), max_size=3).map(tuple),
)  # fmt: skip
files = st.builds(
    File,
    st.just("idlehive-history"),
    st.just(1),
    st.just(0.0),
    st.lists(sessions, max_size=4, unique_by=lambda s: (s.origin, s.project, s.started_at)).map(tuple),
    st.lists(st.builds(FileIdle, names, hours, names, amounts), max_size=3).map(tuple),
    st.lists(
        st.builds(FileEpoch, names, names, names, counts, counts, counts, times, st.none() | amounts), max_size=3
    ).map(tuple),
)


@given(file=files)
@settings(max_examples=300)
def test_what_is_read_from_a_table_is_what_was_written(file: File) -> None:
    assert from_csv(as_csv(file)) == file


@given(file=files)
@settings(max_examples=40)
def test_a_table_and_json_are_imported_as_the_same_and_twice_is_once(file: File) -> None:
    with TemporaryDirectory() as folder:
        kept = []
        for name, data in (("x.json", as_json(file)), ("x.csv", as_csv(file))):
            path = Path(folder, name)
            path.write_bytes(data)
            with closing(Store(path.with_suffix(f"{path.suffix}.sqlite"))) as store:
                for again in (False, True):
                    new = sum(exchange.import_into(store.journal, exchange.read(path), "own"))
                    assert not (again and new)
                    kept.append(tables(store))
        assert all(each == kept[0] for each in kept)


@pytest.fixture
def table(full: Store, tmp_path: Path) -> Path:
    """An export of two sessions with three hours, a reason and an epoch."""
    with closing(full.view()) as view:
        (tmp_path / "f.csv").write_bytes(as_csv(exchange.collect(view, "full", NOON)))
    return tmp_path / "f.csv"


def test_each_hour_is_a_row_and_sums_of_columns_are_what_was_given(table: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert [(row["record"], row["project"], row["samples"], row["joules"]) for row in rows] == [
        ("hour", "p", "10", ""), ("hour", "p", "20", ""), ("hour", "q", "5", ""), ("idle", "", "", ""),
        ("epoch", "p", "", ""),
    ]  # fmt: skip
    assert sum(float(row["seconds"] or 0) for row in rows) == 17.0, "and none of it was idle"


def test_a_table_that_a_spreadsheet_wrote_again_is_read(table: Path, empty: Store) -> None:
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    again = io.StringIO()
    writer = csv.DictWriter(again, sorted(COLUMNS), lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    table.write_text("\ufeff" + again.getvalue() + "," * (len(COLUMNS) - 1) + "\n", encoding="utf-8")
    assert sum(exchange.import_into(empty.journal, exchange.read(table), "empty")) == 3
    assert [entry.samples for entry in empty.history.contributions()] == [10, 20, 5]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda text: "", "Line 1: It does not begin with the names of its columns."),
        (lambda text: "hello", "Line 1: It does not begin"),
        (lambda text: text.replace("joules", "jewels", 1), "Line 1: There is no column “jewels”."),
        (lambda text: text[: text.index("idle,")] + "idle,full", "Line 5: It has 2 cells, not 3"),
        (lambda text: text.replace("hour,full", "day,full", 1), "Line 2: There is no record “day”."),
        (lambda text: text.replace("1773489600,5.0", "1773489601,5.0"), "Line 2: Expected `int` that's a multiple"),
        (lambda text: text.replace("1773489600,5.0", "1773489600,-5.0"), "Line 2: Expected `float` >= 0"),
        (lambda text: text.replace("1773489600,5.0", "1773489600,nan"), "Line 2: Expected `float`"),
        (lambda text: text.replace("1773489600,5.0", "1773489600,five"), "Line 2: Expected `float`"),
        (lambda text: text.replace("1773489600,5.0,10", "1773489600,5.0,1.5"), "Line 2: Expected `int`"),
        (lambda text: text.replace("hour,full,p", "hour,,p", 1), "Line 2: Object missing required field `origin`"),
        (lambda text: text + '"', "Line 7: "),
        (lambda text: text + "\xff", "codec can't decode"),
    ],
)
def test_a_damaged_table_is_one_clear_sentence_and_changes_nothing(
    full: Store, table: Path, damage: Callable[[str], str], why: str
) -> None:
    text = table.read_bytes().decode()
    assert damage(text) != text
    table.write_bytes(damage(text).encode("latin-1"))
    before = tables(full)
    with pytest.raises(UsageError, match=r"not_a_history path=.*f\.csv") as raised:
        exchange.read(table)
    said = sentence(raised.value.message)
    assert why in said
    assert said.endswith(".")
    assert "\n" not in said
    assert tables(full) == before

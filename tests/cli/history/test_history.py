"""history: many pages of rows, cost, and the files that are made of the record."""

import csv
import io
import json
import time
from pathlib import Path

import msgspec
import pytest

from core.api.preferences.commands import ListPreferences
from core.api.record.record import (
    MOST_HOURS,
    Contribution,
    Cost,
    DeleteHistory,
    ExportHistory,
    GetHistory,
    GetOverview,
    ImportHistory,
    Overview,
    ProjectGiven,
    Sums,
    Written,
)
from tests.cli.conftest import RunCli, StartCli
from tests.cli.given import HALF_AN_HOUR, the_line
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import info

HOUR = 1_760_000_400.0
ROW = Contribution(
    1800.0, 12_000, 12, 1, 3, 1700.0, 0.0, 3.6e6, 11_000, 3.2e15, None, 3.6e6, uploaded=34_000_000,
    downloaded=12_000_000, session=1, project="bees", hour=HOUR,
)  # fmt: skip
OVERVIEW = Overview(
    HOUR, HOUR + 3600, HOUR, Sums(seconds=1800.0, samples=9), 1, Cost(), (ProjectGiven("b", "Bees", 1800.0, 9),),
    "hour", (), 2025, (2025,), (0.0,) * 365, (),
)  # fmt: skip


def test_work_and_energy_are_told_with_what_is_an_estimate(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(GetHistory, [ROW])
    said = run_cli("history").stdout
    assert "3.2 PFLOP" in said
    assert "~2 kWh" in said
    assert "11 000" in said
    assert "cost" not in said


def test_cost_is_told_by_the_volunteers_own_figures(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(GetHistory, [ROW])
    engine.answer(ListPreferences, [info("energy_price", 312), info("currency", "EUR"), info("grid_factor", 400)])
    assert "cost 0.62 EUR · 800 g CO₂, by your own figures." in run_cli("history").stdout
    told = json.loads(run_cli("history", "--json").stdout)
    assert told["cost"] == {"money": pytest.approx(0.624), "currency": "EUR", "co2": 800.0}
    assert told["totals"]["accepted"] == 11_000


def test_a_long_history_is_fetched_page_by_page(engine: ScriptedEngine, run_cli: RunCli) -> None:
    rows = [msgspec.structs.replace(ROW, session=number + 1) for number in range(2 * MOST_HOURS + 5)]

    def page(ask: GetHistory) -> list[Contribution]:
        first = 0 if ask.after is None else int(ask.after[1])
        return rows[first : first + MOST_HOURS]

    engine.answer(GetHistory, page)
    assert len(run_cli("history", "--csv").stdout.splitlines()) == len(rows) + 1
    assert [ask.after for ask in engine.received(GetHistory)] == [None, (HOUR, MOST_HOURS), (HOUR, 2 * MOST_HOURS)]


def test_export_and_import_name_full_paths_and_tell_what_was_new(
    engine: ScriptedEngine, run_cli: RunCli, tmp_path: Path
) -> None:
    engine.answer(ExportHistory, lambda ask: Written(ask.path, 2, 9))
    engine.answer(ImportHistory, lambda ask: Written(ask.path, 2, 9, 4))
    path = tmp_path / "h.csv"
    assert run_cli("history", "export", str(path)).stdout == f"9 hours of 2 sessions written to {path}.\n"
    assert engine.received(ExportHistory) == [ExportHistory(str(path), "csv")]
    assert "4 hours of it was new" in run_cli("history", "import", "h.json").stdout
    assert Path(engine.received(ImportHistory)[0].path).is_absolute()
    assert json.loads(run_cli("history", "import", "h.json", "--json").stdout)["new_hours"] == 4


def test_deleting_asks_first(engine: ScriptedEngine, start_cli: StartCli, run_cli: RunCli) -> None:
    asked = start_cli("history", "delete")
    out, _ = asked.communicate("no\n", timeout=20)
    assert "Nothing was deleted." in out
    assert asked.returncode == 1
    assert engine.received(DeleteHistory) == []
    sure = start_cli("history", "delete")
    assert "is deleted" in sure.communicate("delete\n", timeout=20)[0]
    assert run_cli("history", "delete", "--yes").returncode == 0
    assert len(engine.received(DeleteHistory)) == 2


@pytest.mark.parametrize(
    ("words", "begin"),
    [
        (("summary", "y.png"), b"\x89PNG"),
        (("summary", "y.svg", "--year", "2025"), b"<?xml"),
        (("certificate", "c.pdf", "--name", "Ada"), b"%PDF-"),
    ],
)
def test_pictures_and_certificates_need_no_screen(
    engine: ScriptedEngine, start_cli: StartCli, tmp_path: Path, words: tuple[str, ...], begin: bytes
) -> None:
    engine.answer(GetOverview, OVERVIEW)
    path = tmp_path / words[1]
    made = start_cli("history", words[0], str(path), *words[2:])
    out, complained = made.communicate(timeout=30)
    assert (made.returncode, complained) == (0, "")
    assert str(path) in out
    assert path.read_bytes().startswith(begin)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("export", "given.txt"), "“given.txt” must end in one of these: .json, .csv."),
        (("summary", "given.jpg"), "“given.jpg” must end in one of these: .png, .svg."),
        (("summary", "y.png", "--year", "20"), "20 is not a year"),
        (("certificate", "given"), "“given” must end in one of these: .pdf."),
    ],
)
def test_a_wrong_file_is_told_before_the_engine_is_asked(
    engine: ScriptedEngine, run_cli: RunCli, words: tuple[str, ...], sentence: str
) -> None:
    done = run_cli("history", *words)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_history_is_a_table_by_day_with_totals(engine: ScriptedEngine, run_cli: RunCli) -> None:
    later = Contribution(
        60.0,
        500,
        1,
        0,
        1,
        50.0,
        0.0,
        7.2e6,
        uploaded=1_000_000,
        session=2,
        project="bees",
        hour=HALF_AN_HOUR.hour + 172_800,
    )
    engine.answer(GetHistory, [HALF_AN_HOUR, HALF_AN_HOUR, later])
    _, first, second, total = run_cli("history").stdout.splitlines()
    assert first.split()[1:8] == ["bees", "1", "h", "24", "000", "-", "6"]
    assert "2 kWh" in second
    assert total.split()[0] == "total"
    assert "24 500" in total


def test_history_as_csv_has_a_row_for_each_hour(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(GetHistory, [HALF_AN_HOUR])
    [row] = csv.DictReader(io.StringIO(run_cli("history", "--csv").stdout))
    assert (row["hour"], row["samples"], row["joules"]) == ("2025-10-09T09:00:00Z", "12000", "")


def test_history_as_json_has_rows_and_totals(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(GetHistory, [HALF_AN_HOUR, HALF_AN_HOUR])
    told = json.loads(run_cli("history", "--since", "2025-01-01", "--json").stdout)
    assert len(told["contributions"]) == 2
    assert told["totals"]["samples"] == 24_000
    assert told["totals"]["joules"] is None, "nobody measured them, which is not none"
    since = engine.received(GetHistory)[0].since
    assert since == time.mktime((2025, 1, 1, 0, 0, 0, 0, 0, -1))


def test_an_empty_history_says_so(engine: ScriptedEngine, run_cli: RunCli) -> None:
    assert the_line(run_cli("history").stdout) == "There is no history yet."

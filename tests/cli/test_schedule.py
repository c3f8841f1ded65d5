"""The week in the terminal."""

import json
import re
from pathlib import Path

import pytest

from app.cli.schedule import drawing
from core.api.intent import Pause
from core.api.preferences.commands import SetPreference
from core.api.preferences.schedule import CELLS_A_DAY, Level, ScheduleState
from core.api.preferences.week_text import parse, preset_cells
from core.api.snapshot import Snapshot
from tests.cli.conftest import RunCli
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen

WEEK = parse("mon-fri 18:00-08:00; sat,sun; daily 12:00-14:30 gentle")
TOMORROW = 4_000_000_000.0


@pytest.fixture
def scheduled(engine: ScriptedEngine) -> ScriptedEngine:
    """Takes every week, and shows nights before."""
    Chosen(engine).change("week", preset_cells("nights"))
    state = ScheduleState(Level.OFF, Level.FULL, TOMORROW, zone="Europe/Berlin")
    engine.show(Snapshot(state="idle", schedule=state))
    return engine


@pytest.mark.parametrize("width", [28, 51, 52, 80, 250])
def test_the_drawing_fits_and_has_a_row_a_day(width: int) -> None:
    ruler, *rows, legend = drawing(WEEK, width)
    assert [row[:4] for row in rows] == ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "]
    assert {len(row) for row in rows} == {52 if width >= 52 else 28}
    assert len(ruler) <= len(rows[0])
    assert legend.split()[:6] == ["█", "full", "▒", "gentle", "·", "off"]


def test_the_hours_of_the_ruler_stand_over_their_cells() -> None:
    for width, cells_an_hour in ((80, 2), (40, 1)):
        ruler, monday, *_ = drawing(WEEK, width)
        assert monday[ruler.index("12")] == "▒"
        assert monday[ruler.index("18")] == "█"
        assert monday[ruler.index("18") - 1] == "·"
        assert ruler.index("18") == 4 + 18 * cells_an_hour


def test_an_hour_with_two_levels_has_a_sign_of_its_own_where_there_is_no_room() -> None:
    *rows, legend = drawing(WEEK, 40)
    assert rows[1][4 + 14] == "~"
    assert "~ changes" in legend
    assert "~" not in drawing(WEEK, 52)[-1]


def test_the_week_is_drawn_with_its_next_change(scheduled: ScriptedEngine, run_cli: RunCli) -> None:
    first, *lines = run_cli("schedule", PYTHONIOENCODING="utf-8").stdout.splitlines()
    assert first.startswith("Nights (Europe/Berlin time). Off. Next change: full power, ")
    assert re.search(r" 2096 \d\d:\d\d\.$", first)
    assert lines == drawing(preset_cells("nights"), 80)


def test_a_terminal_without_blocks_gets_letters(scheduled: ScriptedEngine, run_cli: RunCli) -> None:
    monday = run_cli("schedule", PYTHONIOENCODING="ascii").stdout.splitlines()[2]
    assert monday == "Mon " + preset_cells("nights")[:CELLS_A_DAY]


def test_json_has_the_cells_and_the_next_change(scheduled: ScriptedEngine, run_cli: RunCli) -> None:
    told = json.loads(run_cli("schedule", "show", "--json").stdout)
    assert told["cells"] == preset_cells("nights")
    assert (told["preset"], told["zone"]) == ("nights", "Europe/Berlin")
    assert (told["level"], told["next_level"], told["next_at"]) == ("off", "full", TOMORROW)


@pytest.mark.parametrize("words", [("working_day_off",), ("working", "day", "off"), ("daily; mon-fri 8:00-18:00 off",)])
def test_a_week_is_set_by_its_name_or_its_windows(
    scheduled: ScriptedEngine, run_cli: RunCli, words: tuple[str, ...]
) -> None:
    assert run_cli("schedule", "set", *words).stdout.startswith("Not in working hours")
    assert scheduled.received(SetPreference) == [SetPreference("week", preset_cells("working_day_off"))]


def test_a_week_is_set_from_a_file_or_from_standard_input(
    scheduled: ScriptedEngine, run_cli: RunCli, tmp_path: Path
) -> None:
    file = tmp_path / "week"
    file.write_text(f"# mine\n{WEEK}\n")
    assert run_cli("schedule", "set", str(file)).stdout.startswith("A week of your own")
    assert run_cli("schedule", "set", "-", stdin="sat,sun\n").stdout.startswith("Weekends")
    assert [command.value for command in scheduled.received(SetPreference)] == [WEEK, preset_cells("weekends")]


def test_a_file_that_is_no_text_is_a_wrong_use(profile: object, run_cli: RunCli, tmp_path: Path) -> None:
    file = tmp_path / "week"
    file.write_bytes(b"\xff\xfe")
    done = run_cli("schedule", "set", str(file))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is not UTF-8 text" in done.stderr


def test_clearing_means_always(scheduled: ScriptedEngine, run_cli: RunCli) -> None:
    assert run_cli("schedule", "clear").stdout.startswith("Always")
    assert scheduled.received(SetPreference) == [SetPreference("week", preset_cells("always"))]


def test_a_pause_until_the_next_change_says_when_that_is(scheduled: ScriptedEngine, run_cli: RunCli) -> None:
    assert re.match(r"Paused until \d+ [A-Z][a-z]+ 2096 \d\d:\d\d\.", run_cli("pause", "--until-change").stdout)
    assert scheduled.received(Pause) == [Pause(until="next_edge")]


def test_status_tells_the_schedule_and_what_overrides_it(engine: ScriptedEngine, run_cli: RunCli) -> None:
    state = ScheduleState(Level.OFF, Level.FULL, TOMORROW, overridden=True)
    engine.show(Snapshot(state="idle", schedule=state, engine_pid=4242))
    said = run_cli("status").stdout
    assert "Schedule: Off. Next change: full power, " in said
    assert "The schedule does not count until you resume it." in said

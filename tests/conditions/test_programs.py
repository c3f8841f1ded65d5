"""Programs that the volunteer named."""

import shutil
import subprocess
from pathlib import Path

import psutil
import pytest

from app.text.messages import sentence
from core.conditions.programs import ProgramsSensor, RunningPrograms, processes


def test_a_real_program_is_found_while_it_runs(tmp_path: Path) -> None:
    program = tmp_path / "hive-test-game"
    shutil.copy("/bin/sleep", program)
    sensor = ProgramsSensor()
    sensor.wanted = ("hive-test-game", "hive-other-game")
    assert sensor.read() == RunningPrograms()
    process = subprocess.Popen([program, "60"])
    try:
        assert sensor.read() == RunningPrograms(("hive-test-game",))
        assert (
            sentence(sensor.info().value) == "Waiting for hive-test-game, hive-other-game; running now: hive-test-game."
        )
    finally:
        process.kill()
        process.wait()
    assert sensor.read() == RunningPrograms()


def test_case_and_the_ending_of_windows_programs_do_not_matter() -> None:
    sensor = ProgramsSensor(lambda: ["Witcher3.EXE", "bash"])
    sensor.wanted = ("witcher3", "Bash", "doom")
    assert sensor.read() == RunningPrograms(("witcher3", "Bash"))


def test_without_names_no_process_is_looked_at() -> None:
    def never() -> list[str]:
        raise AssertionError

    sensor = ProgramsSensor(never)
    assert sensor.read() == RunningPrograms()
    assert sensor.info().known


def test_a_process_that_ends_while_it_is_looked_at_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def name(self) -> str:
            raise psutil.NoSuchProcess(1)

    monkeypatch.setattr(psutil, "process_iter", lambda: iter([Gone()]))
    assert list(processes()) == []

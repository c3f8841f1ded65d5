"""`installer test`: every check runs, and one that fails is not lost."""

from installer.checks import NATIVE, OTHER_SYSTEMS, Outcome, select, summary
from tests.installer.machine import Machine, failures


def test_slow_tests_run_only_when_asked_for() -> None:
    assert select(["tests/api", "-x"]) == ["-m", "not slow", "tests/api", "-x"]
    assert select(["-x", "--all"]) == ["-x"]


def test_a_whole_run_without_slow_tests_runs_two_at_a_time() -> None:
    assert select([]) == ["-m", "not slow", "-n", "2", "--dist", "loadfile"]
    assert select(["--all"]) == []


def test_the_summary_names_what_failed() -> None:
    text = summary([Outcome("mypy", False, 3.14), Outcome("pytest", True, 20.0)])
    assert text.splitlines() == [
        "FAILED  mypy             3.1 s",
        "passed  pytest          20.0 s",
        "1 of 2 checks failed.",
    ]


def test_all_checks_run_in_order_and_the_summary_comes_last(machine: Machine) -> None:
    result = machine.run("test", "-x")
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("All 7 checks passed.\n")
    cache = machine.checkout.root / ".mypy_cache"
    assert machine.calls()[-7:] == [
        "ruff check .",
        "ruff format --check .",
        "mypy",
        *(f"mypy --platform {system} --cache-dir {cache}/{system} {' '.join(NATIVE)}" for system in OTHER_SYSTEMS),
        "lint-imports",
        "python -m pytest -m not slow -x",
    ]


def test_a_failing_check_does_not_hide_the_others_and_sets_the_exit_status(machine: Machine) -> None:
    result = machine.run("test", STUB_FAILURES=failures(("lint-imports", 9, "Contracts: 1 broken.")))
    assert result.returncode == 1
    assert "Contracts: 1 broken." in result.stderr
    assert "python -m pytest" in result.stdout
    assert result.stdout.endswith("1 of 7 checks failed.\n")

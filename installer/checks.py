"""The project's checks, one after the other: style, types, import rules, tests."""

import subprocess
import time
from dataclasses import dataclass

from installer.checkout import Checkout

_SIDE_BY_SIDE = ["-n", "2", "--dist", "loadfile"]
"""Two tests at a time: most wait for processes that they have started. Slow ones have the machine for themselves."""
OTHER_SYSTEMS = ("darwin", "win32")
NATIVE = (
    "app", "core/api", "core/client", "core/conditions", "core/engine", "core/release", "core/runtime", "core/store",
    "core/system",
)  # fmt: skip
"""What runs on Windows itself: sessions and backbones, which hivemind needs Unix for, run in WSL, as on Linux."""


@dataclass(frozen=True)
class Outcome:
    """How one check ended."""

    name: str
    passed: bool
    seconds: float


def commands(checkout: Checkout, pytest_arguments: list[str]) -> dict[str, list[str]]:
    """Every check by its name, in the order in which they run: the quick ones first."""
    programs = checkout.venv / "bin"
    return {
        "ruff check": [str(programs / "ruff"), "check", "."],
        "ruff format": [str(programs / "ruff"), "format", "--check", "."],
        "mypy": [str(programs / "mypy")],
        **{f"mypy {system}": _mypy(checkout, system) for system in OTHER_SYSTEMS},
        "import-linter": [str(programs / "lint-imports")],
        "pytest": [str(checkout.python), "-m", "pytest", *pytest_arguments],
    }


def _mypy(checkout: Checkout, system: str) -> list[str]:
    """Without the learning libraries it takes seconds; one cache for all systems would be made again each time."""
    cache = checkout.root / ".mypy_cache" / system
    return [str(checkout.venv / "bin" / "mypy"), "--platform", system, "--cache-dir", str(cache), *NATIVE]


def select(arguments: list[str]) -> list[str]:
    """Pytest's arguments: without --all the slow tests are left out; a whole run without them shares the processors."""
    if "--all" in arguments:
        return [argument for argument in arguments if argument != "--all"]
    return ["-m", "not slow", *(arguments or _SIDE_BY_SIDE)]


def run_all(checkout: Checkout, arguments: list[str]) -> bool:
    """Run every check and print a summary; True if all passed."""
    outcomes = [_run(name, command, checkout) for name, command in commands(checkout, select(arguments)).items()]
    print("\n" + summary(outcomes), flush=True)
    return all(outcome.passed for outcome in outcomes)


def _run(name: str, command: list[str], checkout: Checkout) -> Outcome:
    print(f"\n── {name} {'─' * (70 - len(name))}", flush=True)
    started = time.monotonic()
    status = subprocess.run(command, cwd=checkout.root, check=False).returncode
    return Outcome(name, status == 0, time.monotonic() - started)


def summary(outcomes: list[Outcome]) -> str:
    """A line for each check and one for all."""
    lines = [f"{'passed' if one.passed else 'FAILED'}  {one.name:<14}{one.seconds:6.1f} s" for one in outcomes]
    failed = sum(not one.passed for one in outcomes)
    verdict = f"{failed} of {len(outcomes)} checks failed." if failed else f"All {len(outcomes)} checks passed."
    return "\n".join([*lines, verdict])

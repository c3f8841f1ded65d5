"""Running a module with the compute runtime."""

import subprocess
import sys
from pathlib import Path

from core.client.installation import core_environment
from core.runtime import plan
from core.runtime.store import PYTHON, RuntimeStore, locks


def launch(folder: Path, *module: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-P", "-m", "core.runtime.launch", str(folder), *module]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=core_environment())


def test_the_process_becomes_the_runtimes_python(tmp_path: Path) -> None:
    runtime = tmp_path / f"{plan.name(locks()[0], PYTHON)}-abcd"
    python = runtime / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$0 $@"\nexit 3\n')
    python.chmod(0o755)
    RuntimeStore(tmp_path).switch_to(runtime)
    done = launch(tmp_path, "core.trainer", "practice", "--json")
    assert (done.returncode, done.stdout) == (3, f"{python} -P -m core.trainer practice --json\n")


def test_without_a_runtime_it_says_how_to_install_one(tmp_path: Path) -> None:
    done = launch(tmp_path / "compute", "core.trainer")
    assert done.returncode == 1
    assert "`idlehive runtime install`" in done.stderr


def test_a_runtime_for_another_python_is_not_used(tmp_path: Path) -> None:
    runtime = tmp_path / f"{plan.name(locks()[0], '2.7')}-abcd"
    (runtime / "bin").mkdir(parents=True)
    (runtime / "bin" / "python").symlink_to(sys.executable)
    RuntimeStore(tmp_path).switch_to(runtime)
    assert launch(tmp_path, "core.api").returncode == 1

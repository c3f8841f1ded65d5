"""Running a module with the compute runtime."""

import subprocess
import sys
from pathlib import Path

from core.client.installation import ROOT, core_environment
from core.runtime import plan
from core.runtime.store import PYTHON, RuntimeStore, libraries, locks

_LIBRARY = "import sys, core; print(sys.executable, sys.argv[1:], core.__path__[0]); sys.exit(3)\n"


def launch(folder: Path, *module: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-P", "-m", "core.runtime.launch", str(folder), *module]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=core_environment())


def installed(folder: Path, python: str) -> None:
    """A runtime whose only library says where it is and what it was asked for."""
    runtime = folder / f"{plan.name(locks()[0], python)}-abcd"
    libraries(runtime).mkdir(parents=True)
    (libraries(runtime) / "idletest.py").write_text(_LIBRARY)
    RuntimeStore(folder).switch_to(runtime)


def test_the_process_becomes_the_module_with_the_runtimes_libraries_behind_our_own(tmp_path: Path) -> None:
    installed(tmp_path, PYTHON)
    (libraries(RuntimeStore(tmp_path).current or tmp_path) / "core").mkdir()  # must not hide Idlehive's own
    done = launch(tmp_path, "idletest", "practice", "--json")
    assert done.stdout == f"{sys.executable} ['practice', '--json'] {ROOT / 'core'}\n", done.stderr
    assert done.returncode == 3


def test_an_installed_runtime_is_found_again_after_the_package_has_moved(tmp_path: Path) -> None:
    """As a portable build may be: the runtime has no Python of its own."""
    installed(tmp_path / "before", PYTHON)
    (tmp_path / "before").rename(tmp_path / "after")
    assert launch(tmp_path / "after", "idletest").returncode == 3


def test_without_a_runtime_it_says_how_to_install_one(tmp_path: Path) -> None:
    done = launch(tmp_path / "compute", "core.trainer")
    assert done.returncode == 1
    assert "`idlehive runtime install`" in done.stderr


def test_a_runtime_for_another_python_is_not_used(tmp_path: Path) -> None:
    installed(tmp_path, "2.7")
    assert launch(tmp_path, "idletest").returncode == 1

"""The command line, as far as it needs no set-up."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from installer import cli
from installer.checkout import this_checkout

INSTALLER = this_checkout().root / "installer"


def test_an_old_python_prints_one_sentence() -> None:
    pretend = "import runpy, sys; sys.version_info = (3, 8, 18); runpy.run_module('installer', run_name='__main__')"
    result = subprocess.run(
        [sys.executable, "-c", pretend], cwd=INSTALLER.parent, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr.startswith("Idlehive needs Python 3.11 or newer; this is Python 3.8.18.")


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py"])
def test_what_an_old_python_reads_parses_there(name: str) -> None:
    assert ast.parse((INSTALLER / name).read_text(encoding="utf-8"), feature_version=(3, 7)).body
    with pytest.raises(SyntaxError):
        ast.parse("if newer := True: pass", feature_version=(3, 7))


@pytest.mark.parametrize("file", sorted(INSTALLER.glob("*.py")), ids=lambda file: file.name)
def test_the_installer_imports_the_standard_library_alone(file: Path) -> None:
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "installer"}


def test_wrong_use_shows_every_verb_and_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fly"]) == cli.main([]) == cli.main(["setup", "--quick"]) == cli.main(["screenshots", "now"]) == 2
    shown = capsys.readouterr().err
    assert all(f"python3 -m installer {verb.usage}" in shown for verb in cli.VERBS.values())
    assert "setup takes no arguments" in shown
    assert "screenshots takes no arguments" in shown


def test_help_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage:\n  python3 -m installer run")


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ""}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("darwin", {}, True),
    ],
)
def test_a_display_is_known_by_its_variables_and_a_mac_has_one(
    system: str, variables: dict[str, str], expected: bool
) -> None:
    assert cli.has_display(system, variables) is expected


@pytest.mark.parametrize(
    ("screen", "arguments", "expected"),
    [
        (True, [], []),
        (True, ["--minimised"], ["--minimised"]),
        (False, [], ["contribute"]),
        (False, ["--for", "2h"], ["contribute", "--for", "2h"]),
        (False, ["status"], ["status"]),
    ],
)
def test_only_a_bare_start_becomes_contribute(screen: bool, arguments: list[str], expected: list[str]) -> None:
    assert cli.app_arguments(screen, arguments) == expected

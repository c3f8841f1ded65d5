"""The manual page and the completions know every verb, and the shells accept them."""

import subprocess
from pathlib import Path

import pytest

from app.cli.installation import reference
from app.cli.main import _VERBS


def test_the_manual_explains_every_verb(tmp_path: Path) -> None:
    page = tmp_path / "idlehive.1"
    page.write_text(reference.man())
    shown = subprocess.run(
        ["man", "--warnings", "-l", "-Tutf8", "-P", "cat", page], capture_output=True, text=True, check=True
    )
    assert shown.stderr == ""
    plain = subprocess.run(["col", "-b"], input=shown.stdout, capture_output=True, text=True, check=True).stdout
    for verb in _VERBS:
        assert f"usage: idlehive {verb}" in plain


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_accepts_its_completion(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(reference.FORMATS[shell]())
    checked = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_bash_completes_the_parts_of_a_verb(tmp_path: Path) -> None:
    script = reference.bash() + 'COMP_WORDS=(idlehive projects jo); COMP_CWORD=2; _idlehive; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "join\n"


def test_fish_completes_verbs_with_their_help(tmp_path: Path) -> None:
    script = tmp_path / "idlehive.fish"
    script.write_text(reference.fish())
    asked = ["fish", "-c", f"source {script}; complete -C 'idlehive stat'"]
    done = subprocess.run(
        asked, capture_output=True, text=True, check=True, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    )
    assert done.stdout == "status\twhat is going on\n"

"""Removing everything, where the disk or the keyring does not answer."""

from pathlib import Path

import pytest

from app.desktop import removal
from core.client.profile import Profile
from tests.cli.conftest import RunCli
from tests.cli.given import the_line


def test_a_removal_that_hangs_is_one_sentence_and_no_crash(
    profile: Profile, run_cli: RunCli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(removal, "_LONGEST", 0.01)
    profile.prepare()
    done = run_cli("remove-everything", "--yes")
    assert done.returncode == 1
    assert "was stopped" in the_line(done.stderr)
    assert not (profile.logs / "cli-crash.log").exists()

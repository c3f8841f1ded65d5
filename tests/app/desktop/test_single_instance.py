"""What another start hands over to the window that runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.desktop.single_instance import SingleInstance
from core.client.profile import Profile

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("named", ["idlehive:https://example.org/bees.json", "a file"])
def test_a_link_or_a_file_that_is_opened_reaches_the_window_that_runs(
    profile: Profile, qtbot: QtBot, tmp_path: Path, named: str
) -> None:
    file = tmp_path / "bees.idlehive"
    file.write_text("{}")
    profile.prepare()
    first = SingleInstance(profile)
    assert first.is_first()
    first.listen()
    environment = {**os.environ, "IDLEHIVE_HOME": str(profile.path), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "app", "open", str(file) if named == "a file" else named]
    try:
        with qtbot.waitSignal(first.opened, timeout=15_000) as opened:
            second = subprocess.Popen(command, cwd=ROOT, env=environment)
        assert opened.args == [str(file) if named == "a file" else "https://example.org/bees.json"]
        qtbot.waitUntil(lambda: second.poll() is not None, timeout=15_000)
        assert second.returncode == 0
    finally:
        first.release()

"""Starting at login: the file of each system, what it says, and what becomes of a folder that cannot be written."""

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from app.desktop import autostart
from app.desktop.autostart import IN_TRAY, launchd, windows, xdg
from app.desktop.autostart.login_file import LoginFile
from core.api.errors import WorldError
from core.client.installation import ROOT
from core.client.profile import Profile


def on_linux(folder: Path, **environment: str) -> LoginFile:
    found = autostart.for_this_system(Profile(folder / "profile"), "linux", environment, folder)
    assert found is not None
    return found


def test_it_is_written_and_removed_in_the_xdg_folder(tmp_path: Path) -> None:
    login = on_linux(tmp_path)
    assert login.path == tmp_path / ".config" / "autostart" / "idlehive.desktop"
    assert not login.is_on
    login.set(True)
    assert login.is_on
    assert [path.name for path in login.path.parent.iterdir()] == ["idlehive.desktop"]
    login.set(False)
    login.set(False)
    assert not login.is_on


def test_the_configured_folder_counts_if_it_is_absolute(tmp_path: Path) -> None:
    assert on_linux(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "c")).path.parent == tmp_path / "c" / "autostart"
    assert on_linux(tmp_path, XDG_CONFIG_HOME="c").path.parent == tmp_path / ".config" / "autostart"


def test_a_profile_of_its_own_has_a_file_of_its_own_and_is_named_in_it(tmp_path: Path) -> None:
    login = on_linux(tmp_path, IDLEHIVE_HOME="x")
    assert login.path.name == "idlehive-profile.desktop"
    assert f"Exec=env IDLEHIVE_HOME={tmp_path}/profile" in login.text.replace('"', "")


def test_the_window_stays_in_the_tray(tmp_path: Path) -> None:
    (line,) = [line for line in on_linux(tmp_path).text.splitlines() if line.startswith("Exec=")]
    assert line.endswith(IN_TRAY)


@pytest.mark.parametrize("word", ["plain", "with space", 'a"b', "a$b`c", "back\\slash", "50%", "semi;colon", "it's"])
def test_an_argument_is_what_it_was_after_both_kinds_of_escaping(word: str) -> None:
    of_the_file = xdg.quoted(word).replace("\\\\", "\\").replace("%%", "%")
    # The specification's quoting is that of a shell's double quotes.
    told = subprocess.run(["sh", "-c", f"printf %s {of_the_file}"], capture_output=True, text=True, check=True)
    assert told.stdout == word


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="desktop-file-utils is not installed")
def test_the_desktop_file_is_valid(tmp_path: Path) -> None:
    login = on_linux(tmp_path, IDLEHIVE_HOME="x")
    login.set(True)
    told = subprocess.run(["desktop-file-validate", login.path], capture_output=True, text=True, check=False)
    assert told.stdout == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_one_clear_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(WorldError, match=r"file_not_written .*Permission denied"):
        on_linux(tmp_path).set(True)


def test_a_file_where_the_folder_belongs_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("")
    with pytest.raises(WorldError, match="file_not_written"):
        on_linux(tmp_path).set(True)


def test_a_sandbox_has_none_but_what_its_terminal_starts_has(tmp_path: Path) -> None:
    (tmp_path / "info").write_text("[Application]\n")
    assert xdg.is_sandboxed({}, ROOT, tmp_path / "info")
    assert not xdg.is_sandboxed({}, ROOT, tmp_path / "none")
    inside = {"SNAP": str(ROOT)}
    assert autostart.for_this_system(Profile(tmp_path), "linux", inside, tmp_path) is None
    assert not on_linux(tmp_path, SNAP="/snap/editor/7").is_on


def test_macos_gets_a_launch_agent(tmp_path: Path) -> None:
    login = autostart.for_this_system(Profile(tmp_path), "darwin", {}, tmp_path)
    assert login is not None
    assert login.path == tmp_path / "Library" / "LaunchAgents" / "org.idlehive.plist"
    agent = plistlib.loads(launchd.text("org.idlehive", ["/a b/idlehive"], {"IDLEHIVE_HOME": "/p"}).encode())
    assert (agent["ProgramArguments"], agent["RunAtLoad"]) == (["/a b/idlehive"], True)
    assert "KeepAlive" not in agent, "who quits it has quit it"


def test_windows_gets_a_batch_file_in_the_startup_folder(tmp_path: Path) -> None:
    login = autostart.for_this_system(Profile(tmp_path), "win32", {"APPDATA": str(tmp_path)}, tmp_path)
    assert login is not None
    assert login.path.parent.name == "Startup"
    text = windows.text(["C:\\Program Files\\idlehive.exe"], {"IDLEHIVE_HOME": "D:\\100%"})
    assert text.splitlines() == [
        "@echo off",
        'set "IDLEHIVE_HOME=D:\\100%%"',
        'start "" "C:\\Program Files\\idlehive.exe"',
    ]


@pytest.mark.parametrize(("system", "environment"), [("win32", {}), ("sunos5", {})])
def test_a_system_whose_way_is_not_known_has_none(tmp_path: Path, system: str, environment: dict[str, str]) -> None:
    assert autostart.for_this_system(Profile(tmp_path), system, environment, tmp_path) is None

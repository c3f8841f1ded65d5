"""The systemd user service, with a stand-in for systemctl that writes down what it is asked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.desktop import autostart, service
from core.api.errors import WorldError
from core.client.profile import Profile
from tests.cli.conftest import RunCli

SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$ASKED"
[ "$2" = is-active ] && echo active
[ "$2" = "$REFUSED" ] && echo "Access denied." >&2 && exit 1
exit 0
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with what systemctl was asked."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "systemctl").write_text(SYSTEMCTL)
    (programs / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("IDLEHIVE_HOME", str(tmp_path / "hive"))
    return tmp_path / "asked"


@pytest.fixture
def profile(asked: Path) -> Profile:
    return Profile.from_environment()


def test_it_is_written_started_and_deleted(asked: Path, profile: Profile, run_cli: RunCli) -> None:
    unit = asked.parent / "config" / "systemd" / "user" / "idlehive-hive.service"
    assert run_cli("service").stdout == "The service is not installed.\n"
    assert run_cli("service", "install").stdout == f"{unit} is installed and started.\n"
    assert "contribute --by-schedule\n" in unit.read_text()
    assert asked.read_text().splitlines()[-1] == "--user enable --now idlehive-hive.service"
    assert run_cli("service", "status").stdout == "The service is active.\n"
    assert run_cli("service", "remove").stdout == f"{unit} is removed.\n"
    assert asked.read_text().splitlines()[-1] == "--user disable --now idlehive-hive.service"
    assert not unit.exists()
    assert run_cli("service", "remove").stdout == "The service is not installed.\n"


def test_where_systemd_refuses_nothing_is_written(
    asked: Path, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUSED", "daemon-reload")
    with pytest.raises(WorldError, match="Access denied"):
        service.install(profile)
    assert not service.path(profile).exists()


def test_a_system_without_systemd_is_told(asked: Path, profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(asked.parent))
    with pytest.raises(WorldError, match="systemd_missing"):
        service.install(profile)


def test_what_systemd_would_replace_is_escaped_where_it_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """systemd.exec(5): in Environment=, $ has no special meaning; specifiers begin with % everywhere."""
    monkeypatch.setenv("IDLEHIVE_HOME", "/srv/50 % of $HOME")
    monkeypatch.setattr(autostart, "program", lambda: ["/opt/$1 a%b/idlehive"])
    lines = service.text(Profile(Path("/srv/50 % of $HOME"))).splitlines()
    assert 'ExecStart="/opt/$$1 a%%b/idlehive" contribute --by-schedule' in lines
    assert 'Environment="IDLEHIVE_HOME=/srv/50 %% of $HOME"' in lines


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_understands_every_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDLEHIVE_HOME", "/srv/50 % of $HOME")
    monkeypatch.setattr(autostart, "program", lambda: [sys.executable])
    unit = tmp_path / "idlehive.service"
    unit.write_text(service.text(Profile(Path("/srv/50 % of $HOME"))))
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = ["systemd-analyze", "verify", "--user", "--man=no", str(unit)]
    checked = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")

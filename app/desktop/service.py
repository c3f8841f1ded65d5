"""A systemd user service that contributes without a screen (systemd.service(5)); it stops with the machine."""

import os
import shutil
import subprocess
from pathlib import Path

from app.desktop import autostart
from app.desktop.atomic_file import replacing
from app.desktop.autostart.xdg import folder
from core.api.errors import WorldError, os_errors_as
from core.client.profile import Profile

_SYSTEMCTL_SECONDS = 30.0


def name(profile: Profile) -> str:
    """Of the unit: each profile has its own."""
    return f"idlehive-{profile.path.name}.service" if os.environ.get("IDLEHIVE_HOME") else "idlehive.service"


def path(profile: Profile) -> Path:
    return folder(os.environ, Path.home()).parent / "systemd" / "user" / name(profile)


def text(profile: Profile) -> str:
    """The unit. SIGTERM ends a session in order; a failure is tried again after a minute."""
    words = [*autostart.program(), "contribute", "--by-schedule"]
    command = " ".join(_quoted(word).replace("$", "$$") for word in words)  # variables begin with $ here alone
    home = f"Environment={_quoted(f'IDLEHIVE_HOME={profile.path}')}\n" if os.environ.get("IDLEHIVE_HOME") else ""
    return f"""[Unit]
Description=Idlehive gives this computer's idle time to open deep-learning collaborations
Documentation=man:idlehive(1)

[Service]
ExecStart={command}
{home}Restart=on-failure
RestartSec=60
TimeoutStopSec=60
KillMode=mixed

[Install]
WantedBy=default.target
"""


def install(profile: Profile) -> None:
    """Write, enable and start the unit.

    Raises:
        WorldError: there is no systemd for this user, or the folder cannot be written.
    """
    if shutil.which("systemctl") is None:
        raise WorldError("systemd_missing")
    unit = path(profile)
    systemctl("daemon-reload")  # nothing is written where no systemd runs for this user
    with os_errors_as("file_not_written", path=str(unit)):
        unit.parent.mkdir(parents=True, exist_ok=True)
        with replacing(unit) as unfinished:
            unfinished.write_text(text(profile), encoding="utf-8")
    systemctl("daemon-reload")
    systemctl("enable", "--now", unit.name)


def remove(profile: Profile) -> bool:
    """Stop, disable and delete the unit; False if there is none."""
    unit = path(profile)
    if not unit.exists():
        return False
    try:
        systemctl("disable", "--now", unit.name)
    except WorldError:
        # Without a running systemd there is nothing to stop; its link is ours to delete.
        (unit.parent / "default.target.wants" / unit.name).unlink(missing_ok=True)
    unit.unlink(missing_ok=True)
    return True


def state(profile: Profile) -> str | None:
    """What systemd says of the unit ("active", "failed", …); None: it is not installed."""
    if not path(profile).exists():
        return None
    asked = _run("is-active", path(profile).name)
    return asked.stdout.strip() or "unknown"


def systemctl(*arguments: str) -> None:
    """Raises WorldError: it failed, as where no systemd runs for this user."""
    done = _run(*arguments)
    if done.returncode:
        raise WorldError("systemd_refuses", detail=(done.stderr or done.stdout).strip().rstrip("."))


def _run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = ["systemctl", "--user", *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_SYSTEMCTL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorldError("systemd_refuses", detail=str(error)) from None


def _quoted(word: str) -> str:
    """systemd.syntax(7), "Quoting"; specifiers begin with %."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"' if any(letter in word for letter in " \t'\"\\;") else escaped

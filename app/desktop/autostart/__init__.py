"""Start at login, as each system does it: one small file of the volunteer's.

It needs no administrator rights and does not restart Idlehive after Quit.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.desktop.autostart.login_file import LoginFile
from core.client.installation import ROOT, package
from core.client.profile import Profile

IN_TRAY = "--in-tray"
"""Start without opening the window, where there is a tray."""


def for_this_system(
    profile: Profile, system: str = sys.platform, environment: Mapping[str, str] = os.environ, user: Path | None = None
) -> LoginFile | None:
    """The file of this profile; None on an unsupported system, and in a sandbox."""
    user = user or Path.home()
    command, is_named = [*program(), IN_TRAY], bool(environment.get("IDLEHIVE_HOME"))
    name = f"idlehive-{profile.path.name}" if is_named else "idlehive"
    variables = {"IDLEHIVE_HOME": str(profile.path)} if is_named else {}
    if system.startswith("linux"):
        from app.desktop.autostart import xdg

        if xdg.is_sandboxed(environment, ROOT):
            return None
        return LoginFile(xdg.folder(environment, user) / f"{name}.desktop", xdg.text(command, variables))
    if system == "darwin":
        from app.desktop.autostart import launchd

        return LoginFile(launchd.folder(user) / f"org.{name}.plist", launchd.text(f"org.{name}", command, variables))
    if system == "win32" and environment.get("APPDATA"):
        from app.desktop.autostart import windows

        return LoginFile(windows.folder(environment) / f"{name}.cmd", windows.text(command, variables))
    return None


def program() -> Sequence[str]:
    """The command line that starts this Idlehive."""
    if installed := package():
        launcher = str(installed.launcher)
        return [launcher] if sys.platform == "linux" else [sys.executable, "-I", launcher]
    script = Path(sys.executable).with_name("idlehive")
    return [str(script)] if script.exists() else [sys.executable, "-m", "app"]

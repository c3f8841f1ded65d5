"""Removes everything that a profile has on this computer: its folder, keyring entries, start at login, service."""

import subprocess
import time
from contextlib import suppress
from types import NoneType

import msgspec

from app.desktop import autostart, service
from core.api.errors import EngineGone, WorldError
from core.api.installation.removal import Removed
from core.api.message import Message
from core.api.protocol import Quit
from core.client.engine_client import EngineClient
from core.client.installation import core_command, core_environment
from core.client.profile import Profile

_LONGEST_LEAVE = 60.0
_LONGEST = 120.0


def remove_everything(profile: Profile, *, with_front_ends: bool) -> Removed:
    """End the engine (and the window), then delete; what was deleted.

    Raises:
        WorldError: it could not be done.
    """
    extra = []
    if service.remove(profile):
        extra.append(str(service.path(profile)))
    login = autostart.for_this_system(profile)
    if login is not None and login.is_on:
        login.set(False)
        extra.append(str(login.path))
    _end_engine(profile, with_front_ends=with_front_ends)
    command = core_command("core.engine.remove_everything")
    environment = {**core_environment(), "IDLEHIVE_HOME": str(profile.path)}
    try:
        done = subprocess.run(command, capture_output=True, timeout=_LONGEST, check=False, env=environment)
    except subprocess.TimeoutExpired:
        raise WorldError("removal_late", seconds=_LONGEST, path=str(profile.path)) from None
    if done.returncode:
        with suppress(msgspec.DecodeError):
            raise WorldError(msgspec.json.decode(done.stdout, type=Message))
        raise WorldError("process_ended", code=done.returncode)
    removed = msgspec.json.decode(done.stdout, type=Removed)
    return msgspec.structs.replace(removed, paths=(*extra, *removed.paths))


def _end_engine(profile: Profile, *, with_front_ends: bool) -> None:
    try:
        with EngineClient.connect(profile) as engine:
            engine.request(Quit(with_front_ends), NoneType, timeout=_LONGEST_LEAVE)
    except EngineGone:
        return
    # The process ends right after its answer, and holds the profile's lock until then.
    deadline = time.monotonic() + _LONGEST_LEAVE
    while profile.socket.exists() and time.monotonic() < deadline:
        time.sleep(0.05)

"""`python -m core.engine.remove_everything`: delete the profile with all that belongs to it, and print its list.

Its engine and windows must have ended. The record says which secrets the keyring holds, so they go first.
"""

import asyncio
import contextlib
import os
import shutil
import sys
from pathlib import Path

import msgspec

from core.api.errors import IdlehiveError
from core.api.installation.removal import Removed
from core.api.preferences.preferences import preference_named
from core.api.preferences.value_types import Secret
from core.client.profile import Profile
from core.engine.machine import profile_lock
from core.engine.projects.credentials import Credentials
from core.runtime.store import StoreInWsl
from core.store.database import Database, StoreError
from core.store.preferences import StoredPreferences
from core.store.projects import Keeper, Projects


def remove(profile: Profile) -> Removed:
    """Delete everything.

    Raises:
        WorldError: an engine uses the profile, or it cannot be written.
    """
    if not profile.path.exists():
        return Removed()
    with profile_lock.held(profile):
        secrets = asyncio.run(_forget_secrets(profile))
        folders = [path for path in (profile.path, profile.runtime) if path.exists()]
        found = [str(path) for folder in folders for path in (*sorted(folder.iterdir()), folder)]
    # Its disk is in the profile, but WSL keeps a list of its own.
    StoreInWsl(profile.compute).delete_distribution()
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    gone = [path for path in dict.fromkeys(found) if not os.path.lexists(path)]
    return Removed(tuple(gone), tuple(secrets), tuple(path for path in dict.fromkeys(found) if path not in gone))


async def _forget_secrets(profile: Profile) -> list[str]:
    """The names of those that were in the keyring: ids of projects and names of preferences."""
    if not profile.database.exists():
        return []
    with contextlib.suppress(StoreError), contextlib.closing(Database(profile.database, to_read=True)) as database:
        keyring: Keeper = "keyring"
        names = [project.id for project in Projects(database).all() if project.secret == keyring]
        names += [name for name, kept in StoredPreferences(database).load().items() if _is_secret(name, kept, keyring)]
        credentials = Credentials(profile.path)
        for name in names:
            await credentials.forget(name, keyring)
        return names
    return []


def _is_secret(name: str, kept: object, keeper: Keeper) -> bool:
    return kept == keeper and isinstance(preference_named(name).type, Secret)


if __name__ == "__main__":
    # The folder from which it was started may be deleted.
    os.chdir(Path.home() if Path.home().is_dir() else "/")
    try:
        answer: object = remove(Profile.from_environment())
    except IdlehiveError as error:
        sys.stdout.buffer.write(msgspec.json.encode(error.message))
        sys.exit(1)
    sys.stdout.buffer.write(msgspec.json.encode(answer))

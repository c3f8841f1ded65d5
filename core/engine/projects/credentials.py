"""Invites and access tokens: in the keyring under the project's id, else in a file that only the owner can read.

A keyring may hang, so every call to it has a time limit.
"""

import contextlib
import json
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from core.api.errors import WorldError, os_errors_as
from core.api.message import Message
from core.client.keyrings import SERVICE, Keyring, NoKeyring, Result, with_keyring
from core.engine.machine.threads import in_thread
from core.store.projects import Keeper
from core.system.atomic_file import write_atomically

WARNING = Message("invite_in_file")
_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Credentials:
    def __init__(self, profile: Path) -> None:
        self._file = profile / "secrets.json"
        # Several profiles share one keyring.
        self._prefix = f"{profile}:"

    async def store(self, project: str, secret: str) -> Keeper:
        """Store a secret; returns where.

        Raises:
            WorldError: neither the keyring nor the file takes it.
        """
        try:
            await self._ask(lambda keyring: keyring.set_password(SERVICE, self._prefix + project, secret))
        except NoKeyring as error:
            _log.warning("The secret of %s goes to a file: %s", project, error)
            self._write({**self._read(), project: secret})
            return "file"
        return "keyring"

    async def find(self, project: str, keeper: Keeper) -> str:
        """Read a stored secret.

        Raises:
            WorldError: it is no longer there, or cannot be read now.
        """
        if keeper == "file":
            secret = self._read().get(project)
        else:
            secret = await self._ask(lambda keyring: keyring.get_password(SERVICE, self._prefix + project))
        if secret is None:
            raise WorldError("invite_lost")
        return secret

    async def forget(self, project: str, keeper: Keeper) -> None:
        """Remove a secret if it is there and the keyring answers."""
        if keeper == "file":
            self._write({name: secret for name, secret in self._read().items() if name != project})
            return
        with contextlib.suppress(NoKeyring):
            await self._ask(lambda keyring: keyring.delete_password(SERVICE, self._prefix + project))

    async def _ask(self, call: Callable[[Keyring], Result]) -> Result:
        try:
            return await in_thread(partial(with_keyring, call), _SECONDS)
        except TimeoutError:
            raise NoKeyring("keyring_silent") from None

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            raise WorldError("invites_unreadable", path=str(self._file)) from None
        return {str(name): str(secret) for name, secret in found.items()} if isinstance(found, dict) else {}

    def _write(self, secrets: dict[str, str]) -> None:
        with os_errors_as("invite_not_kept", path=str(self._file)):
            write_atomically(self._file, json.dumps(secrets).encode())

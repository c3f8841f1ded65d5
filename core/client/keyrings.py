"""The system's keyring, and which one counts: one that keeps secrets, and not in the clear."""

from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from core.api.errors import WorldError

SERVICE = "idlehive"
_DO_NOT_COUNT = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
"""Modules of backends that keep secrets nowhere, or in the clear."""

Result = TypeVar("Result")


class NoKeyring(WorldError):
    """There is no keyring that can be used."""


class Keyring(Protocol):
    """What is used of a backend."""

    @property
    def name(self) -> str: ...
    def set_password(self, service: str, name: str, secret: str, /) -> None: ...
    def get_password(self, service: str, name: str, /) -> str | None: ...
    def delete_password(self, service: str, name: str, /) -> None: ...


def ask(call: Callable[[Keyring], Result]) -> Result:
    """What `call` makes of the system's keyring. Some never answer: whoever asks sets a time limit.

    Raises:
        NoKeyring: there is none that counts, or it fails, which a locked or absent one does only now.
    """
    try:
        return call(_that_counts())
    except NoKeyring:
        raise
    except Exception as error:  # noqa: BLE001 - backends raise whatever their platform's libraries raise
        # The kind alone: a backend's message may quote what it was given.
        raise NoKeyring("keyring_unusable", detail=type(error).__name__) from None


def _that_counts() -> Keyring:
    import keyring

    backend = keyring.get_keyring()
    if type(backend).__module__.startswith(_DO_NOT_COUNT):
        raise NoKeyring("keyring_missing")
    return cast("Keyring", backend)

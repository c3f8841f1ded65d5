"""The system's keyring; backends that do not encrypt are not used."""

from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from core.api.errors import WorldError

SERVICE = "idlehive"
_DO_NOT_COUNT = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
"""Modules of backends that store nothing, or store secrets unencrypted."""

Result = TypeVar("Result")


class NoKeyring(WorldError):
    """There is no usable keyring."""


class Keyring(Protocol):
    """The part of a backend that is used."""

    @property
    def name(self) -> str: ...
    def set_password(self, service: str, name: str, secret: str, /) -> None: ...
    def get_password(self, service: str, name: str, /) -> str | None: ...
    def delete_password(self, service: str, name: str, /) -> None: ...


def with_keyring(call: Callable[[Keyring], Result]) -> Result:
    """Call `call` with the system's keyring. May block for ever: the caller sets a time limit.

    Raises:
        NoKeyring: there is no usable keyring, or it fails, for example because it is locked.
    """
    try:
        return call(_usable_keyring())
    except NoKeyring:
        raise
    except Exception as error:  # noqa: BLE001 - backends raise whatever their platform's libraries raise
        # Only the type: the message may contain the secret.
        raise NoKeyring("keyring_unusable", detail=type(error).__name__) from None


def _usable_keyring() -> Keyring:
    import keyring

    backend = keyring.get_keyring()
    if type(backend).__module__.startswith(_DO_NOT_COUNT):
        raise NoKeyring("keyring_missing")
    return cast("Keyring", backend)

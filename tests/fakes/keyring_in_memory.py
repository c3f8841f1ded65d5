"""A keyring of the test's own, in the place of the system's."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import keyring
import keyring.backend


class FakeKeyring(keyring.backend.KeyringBackend):
    """Keeps secrets in memory, once `gate` is open."""

    priority = 1

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None

    def set_password(self, service: str, username: str, password: str) -> None:
        self._pass()
        self.kept[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        self._pass()
        return self.kept.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        self._pass()
        del self.kept[service, username]

    def _pass(self) -> None:
        self.gate.wait(10)
        if self.error is not None:
            raise self.error


@contextmanager
def in_place() -> Iterator[FakeKeyring]:
    before, fake = keyring.get_keyring(), FakeKeyring()
    keyring.set_keyring(fake)
    try:
        yield fake
    finally:
        fake.gate.set()
        keyring.set_keyring(before)

"""The volunteer's Ed25519 key, in a file that only the owner can read; exports are encrypted with a passphrase.

It is not in the keyring: after a reset of the keyring, the volunteer's contributions would belong to a lost key.
"""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from core.api import identity as api
from core.api.errors import UsageError, WorldError, os_errors_as
from core.api.identity import IdentityExport, IdentityInfo
from core.engine.machine.threads import in_thread
from core.system.atomic_file import write_atomically

if TYPE_CHECKING:
    # Imported inside the functions: it takes 7 MiB, and the engine uses the key only to show or to move it.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

_FORMAT = "idlehive identity 1"
_SECONDS = 30.0
_LONGEST_PASSPHRASE = 1024
_KEY_BYTES = 32


class _Sealed(msgspec.Struct, frozen=True):
    """An exported identity; binary fields are base64."""

    format: str
    id: str
    salt: bytes
    nonce: bytes
    secret: bytes


class Identity:
    def __init__(self, file: Path) -> None:
        self.file = file

    def create(self) -> None:
        """Make the key if there is none: 32 random bytes (RFC 8032, section 5.1.5).

        Raises:
            WorldError: the file cannot be written.
        """
        with os_errors_as("identity_not_kept", path=str(self.file)):
            if not self.file.exists():
                self._write(os.urandom(_KEY_BYTES))

    def info(self) -> IdentityInfo:
        """Creates the key if there is none.

        Raises:
            WorldError: the file cannot be used.
        """
        return IdentityInfo(_public(self._key()))

    async def export(self, passphrase: str) -> IdentityExport:
        """Raises UsageError for a passphrase that is too short or long, WorldError if the file cannot be used."""
        if not api.SHORTEST_PASSPHRASE <= len(passphrase) <= _LONGEST_PASSPHRASE:
            raise UsageError("passphrase_too_short", least=api.SHORTEST_PASSPHRASE)
        key = self._key()
        salt, nonce = os.urandom(16), os.urandom(12)
        lock = await _lock(passphrase, salt)
        secret = lock.encrypt(nonce, key.private_bytes_raw(), _FORMAT.encode())
        sealed = _Sealed(_FORMAT, _public(key), salt, nonce, secret)
        return IdentityExport(msgspec.json.format(msgspec.json.encode(sealed)).decode() + "\n")

    async def import_key(self, text: str, passphrase: str, *, replace: bool) -> IdentityInfo:
        """Replace the key by an exported one.

        Raises:
            UsageError: no export, a wrong passphrase, or there is another identity and `replace` is not set.
            WorldError: the file cannot be used.
        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        sealed = _parse(text)
        own = _public(self._key()) if self.file.exists() else None
        if own not in (None, sealed.id) and not replace:
            raise UsageError("identity_exists")
        lock = await _lock(passphrase[:_LONGEST_PASSPHRASE], sealed.salt)
        try:
            secret = lock.decrypt(sealed.nonce, sealed.secret, _FORMAT.encode())
            key = Ed25519PrivateKey.from_private_bytes(secret)
        except (InvalidTag, ValueError):
            raise UsageError("passphrase_wrong") from None
        if _public(key) != sealed.id:
            raise UsageError("identity_file_damaged")
        self._write(secret)
        return self.info()

    def _key(self) -> "Ed25519PrivateKey":
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self.create()
        try:
            with os_errors_as("identity_unreadable", path=str(self.file)):
                return Ed25519PrivateKey.from_private_bytes(self.file.read_bytes())
        except ValueError:
            raise WorldError("identity_damaged", path=str(self.file)) from None

    def _write(self, key: bytes) -> None:
        with os_errors_as("identity_not_kept", path=str(self.file)):
            write_atomically(self.file, key)


def _public(key: "Ed25519PrivateKey") -> str:
    return key.public_key().public_bytes_raw().hex()


async def _lock(passphrase: str, salt: bytes) -> "ChaCha20Poly1305":
    """The cipher for a passphrase. Slow on purpose, against guessing: 64 MiB of memory and some tenths of a second."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    derive = Scrypt(salt=salt, length=32, n=1 << 16, r=8, p=1).derive
    try:
        return ChaCha20Poly1305(await in_thread(partial(derive, passphrase.encode()), _SECONDS))
    except (TimeoutError, MemoryError):
        raise WorldError("passphrase_takes_long") from None


def _parse(text: str) -> _Sealed:
    try:
        sealed = msgspec.json.decode(text, type=_Sealed)
    except msgspec.DecodeError:
        sealed = None
    if sealed is None or sealed.format != _FORMAT or (len(sealed.salt), len(sealed.nonce)) != (16, 12):
        raise UsageError("identity_file_unknown")
    return sealed

"""For publishers: `python -m core.release.publish key|sign` writes a key, or a signed release file."""

import argparse
import hashlib
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from core.release.signed import Envelope, File, Release

_DAY = 86_400


def public(key: Ed25519PrivateKey) -> str:
    """The public key as packages name it."""
    return key.public_key().public_bytes_raw().hex()


def sign(release: Release, keys: list[Ed25519PrivateKey]) -> bytes:
    """The release file, signed by each of the keys."""
    text = msgspec.json.encode(release)
    return msgspec.json.encode(Envelope(text.decode(), {public(key): key.sign(text).hex() for key in keys}))


def describe(packages: Mapping[str, Path], base: str) -> dict[str, File]:
    """The packages by kind, to be published beside each other at the URL `base`."""
    return {
        kind: File(f"{base}{path.name}", path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for kind, path in packages.items()
    }


def write_key(path: Path) -> str:
    """Write a new private key, which only its owner may read; the public key. Raises FileExistsError."""
    key = Ed25519PrivateKey.generate()
    path.touch(mode=0o600, exist_ok=False)
    form, encoding = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    path.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
    return public(key)


def read_key(path: Path) -> Ed25519PrivateKey:
    """Raises TypeError, ValueError: it is no such key."""
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    if not isinstance(key, Ed25519PrivateKey):
        raise TypeError(f"{path} is not an Ed25519 key")
    return key


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m installer release")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("key", help="write a new private key and print its public key").add_argument("file", type=Path)
    signing = verbs.add_parser("sign", help="write the release file of these packages")
    signing.add_argument("--key", type=Path, action="append", required=True, help="private key; may be repeated")
    signing.add_argument("--version", required=True)
    signing.add_argument("--changelog", type=Path, required=True, help="what is new: plain English text")
    signing.add_argument("--days", type=int, default=90, help="until it must be signed again (90)")
    signing.add_argument("--base", default="", help="URL of the packages' folder (default: that of the release file)")
    signing.add_argument("--out", type=Path, default=Path("dist/release.json"))
    signing.add_argument("packages", nargs="+", metavar="KIND=FILE", help="such as deb=dist/idlehive_0.2.0_amd64.deb")
    return parser


def main(arguments: list[str]) -> int:
    asked, now = _parser().parse_args(arguments), int(time.time())
    if asked.verb == "key":
        print(write_key(asked.file))
        return 0
    packages = {kind: Path(path) for kind, _, path in (package.partition("=") for package in asked.packages)}
    expires, text = float(now + asked.days * _DAY), asked.changelog.read_text(encoding="utf-8")
    release = Release(now, expires, asked.version, text, describe(packages, asked.base))
    release = msgspec.convert(msgspec.to_builtins(release), Release)  # checks what was typed
    asked.out.write_bytes(sign(release, [read_key(path) for path in asked.key]))
    print(asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

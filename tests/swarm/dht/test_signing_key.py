"""The key that signs records of the DHT, as hivemind's validator uses it."""

import dataclasses
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from hivemind.dht.schema import RSASignatureValidator
from hivemind.dht.validation import DHTRecord
from hivemind.utils import MSGPackSerializer
from hivemind.utils.crypto import RSAPrivateKey

from core.swarm.dht.signing_key import SigningKey
from tests.swarm.installed import installed


@pytest.fixture(autouse=True)
def _patched(short_folder: Path) -> Iterator[None]:
    with installed(short_folder):
        yield


def record(subkey: bytes, value: bytes = b"\x01") -> DHTRecord:
    return DHTRecord(b"key", MSGPackSerializer.dumps(subkey), value, 1e9)


def signed(validator: RSASignatureValidator) -> DHTRecord:
    plain = record(validator.local_public_key)
    return dataclasses.replace(plain, value=validator.sign_value(plain))


def test_a_record_counts_as_its_owner_signed_it() -> None:
    made = signed(RSASignatureValidator())
    reader = RSASignatureValidator(SigningKey())
    assert reader.validate(made)
    assert reader.strip_value(made) == b"\x01"
    assert not reader.validate(dataclasses.replace(made, value=made.value.replace(b"\x01", b"\x02", 1)))
    assert not reader.validate(dataclasses.replace(made, expiration_time=2e9))


def test_a_record_in_the_place_of_another_key_is_refused() -> None:
    ann, ben = (RSASignatureValidator(SigningKey()) for _ in range(2))
    forged = dataclasses.replace(signed(ann), subkey=record(ben.local_public_key).subkey)
    assert not ann.validate(forged)


def test_signature_and_key_take_less_than_170_bytes_of_a_record() -> None:
    validator = RSASignatureValidator()
    made = signed(validator)
    assert len(made.value) + len(made.subkey) < 170


def test_a_key_arrives_in_another_process_as_it_was() -> None:
    key = SigningKey()
    copy = pickle.loads(pickle.dumps(key))  # noqa: S301 - made here
    assert copy.get_public_key().to_bytes() == key.get_public_key().to_bytes()


@pytest.mark.parametrize("key", [b"me", b"%%%", RSAPrivateKey().get_public_key().to_bytes()])
def test_a_record_of_what_is_no_such_key_is_refused(key: bytes) -> None:
    validator = RSASignatureValidator()
    made = signed(validator)
    owner = validator.PUBLIC_KEY_FORMAT.replace(b"_key_", key)
    assert not validator.validate(dataclasses.replace(made, subkey=record(owner).subkey))


@pytest.mark.parametrize("signature", [b"", b"%%%", b"AAAA"])
def test_what_is_no_signature_is_refused(signature: bytes) -> None:
    assert not SigningKey().get_public_key().verify(b"data", signature)

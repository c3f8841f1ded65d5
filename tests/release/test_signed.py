"""The signed release file: what is believed, and what is not."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.api.errors import WorldError
from core.release import publish
from core.release.signed import is_newer, verified
from tests.release.given import FAR, KEY, PUBLIC, RELEASE, STRANGER, signed

NOW = 1e9


def test_what_the_publisher_has_signed_is_believed() -> None:
    assert verified(signed(), [PUBLIC], NOW) == RELEASE


def test_one_of_several_signatures_is_enough_so_that_keys_can_be_replaced() -> None:
    both = publish.sign(RELEASE, [KEY, STRANGER])
    for trusted in ([PUBLIC], [publish.public(STRANGER)], ["00" * 32, PUBLIC]):
        assert verified(both, trusted, NOW) == RELEASE


def tampered() -> bytes:
    return signed().replace(b"9.0.0", b"9.0.1")


def under_another_name() -> bytes:
    """A stranger's signature under the publisher's key."""
    envelope = json.loads(publish.sign(RELEASE, [STRANGER]))
    envelope["signatures"] = {PUBLIC: next(iter(envelope["signatures"].values()))}
    return json.dumps(envelope).encode()


def without_signature() -> bytes:
    return json.dumps({"signed": json.loads(signed())["signed"], "signatures": {}}).encode()


@pytest.mark.parametrize(
    ("data", "keys", "kind"),
    [
        (publish.sign(RELEASE, [STRANGER]), [PUBLIC], "release_not_signed"),
        (tampered(), [PUBLIC], "release_not_signed"),
        (under_another_name(), [PUBLIC], "release_not_signed"),
        (without_signature(), [PUBLIC], "release_not_signed"),
        (signed(), [], "release_not_signed"),
        (signed(), ["no key"], "release_not_signed"),
        (b"", [PUBLIC], "release_unreadable"),
        (b"<html>sign in to this network</html>", [PUBLIC], "release_unreadable"),
        (b"[" * 100_000, [PUBLIC], "release_unreadable"),
        (b'{"signed": 3, "signatures": {}}', [PUBLIC], "release_unreadable"),
        (signed(replace(RELEASE, expires=NOW)), [PUBLIC], "release_expired"),
        (signed(replace(RELEASE, number=2)), [PUBLIC], "release_older"),
        (signed(replace(RELEASE, version="9.0; rm -rf /")), [PUBLIC], "release_unreadable"),
        (signed(replace(RELEASE, format=2)), [PUBLIC], "release_format_newer"),
    ],
)
def test_nothing_else_is(data: bytes, keys: list[str], kind: str) -> None:
    with pytest.raises(WorldError) as refused:
        verified(data, keys, NOW, least=3)
    assert refused.value.message.kind == kind


def test_the_same_file_may_be_seen_again() -> None:
    assert verified(signed(), [PUBLIC], NOW, least=RELEASE.number) == RELEASE


@pytest.mark.parametrize(
    ("version", "than", "newer"),
    [
        ("0.10.0", "0.9.9", True),
        ("0.1.0", "0.1.0", False),
        ("0.1.0", "0.1", False),
        ("0.1", "0.1.1", False),
        ("1.0.0", "", False),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, than: str, newer: bool) -> None:
    assert is_newer(version, than) is newer


def test_the_publishers_tool_writes_what_is_believed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, package, changes = tmp_path / "key.pem", tmp_path / "idlehive.deb", tmp_path / "changes"
    package.write_bytes(b"a package")
    changes.write_text("- Smaller.")
    assert publish.main(["key", str(key)]) == 0
    public = capsys.readouterr().out.strip()
    assert key.stat().st_mode & 0o777 == 0o600
    out = tmp_path / "release.json"
    publish.main(
        ["sign", "--key", str(key), "--version", "0.2.0", "--changelog", str(changes), f"--out={out}", f"deb={package}"]
    )
    found = verified(out.read_bytes(), [public], NOW)
    assert (found.version, found.changelog, found.files["deb"].size) == ("0.2.0", "- Smaller.", 9)
    assert found.expires < FAR
    with pytest.raises(FileExistsError):
        publish.main(["key", str(key)])

"""Secrets with keyrings that work, hang, lock, or keep nothing."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.api.errors import WorldError
from core.client.keyrings import NoKeyring
from core.engine.projects import credentials
from core.engine.projects.credentials import Credentials
from tests.fakes.keyring_in_memory import FakeKeyring, in_place


@pytest.fixture
def fake() -> Iterator[FakeKeyring]:
    with in_place() as keyring:
        yield keyring


def test_a_keyring_keeps_finds_and_forgets(fake: FakeKeyring, tmp_path: Path) -> None:
    async def scenario() -> None:
        secrets = Credentials(tmp_path)
        assert await secrets.store("p", "sesame") == "keyring"
        assert await secrets.find("p", "keyring") == "sesame"
        await secrets.forget("p", "keyring")
        with pytest.raises(WorldError, match="invite_lost"):
            await secrets.find("p", "keyring")
        await secrets.forget("p", "keyring")

    asyncio.run(scenario())
    assert not (tmp_path / "secrets.json").exists()


def test_profiles_do_not_see_each_others_secrets(fake: FakeKeyring, tmp_path: Path) -> None:
    asyncio.run(Credentials(tmp_path / "a").store("p", "sesame"))
    with pytest.raises(WorldError):
        asyncio.run(Credentials(tmp_path / "b").find("p", "keyring"))


def test_a_keyring_that_hangs_is_given_up_and_does_not_hold_up_the_end(
    fake: FakeKeyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "_SECONDS", 0.2)
    fake.gate.clear()
    began = time.monotonic()
    assert asyncio.run(Credentials(tmp_path).store("p", "sesame")) == "file"
    assert time.monotonic() - began < 2.0
    assert asyncio.run(Credentials(tmp_path).find("p", "file")) == "sesame"


def test_a_keyring_that_is_locked_quotes_no_secret(
    fake: FakeKeyring, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fake.error = RuntimeError("cannot store sesame")
    assert asyncio.run(Credentials(tmp_path).store("p", "sesame")) == "file"
    assert "RuntimeError" in caplog.text
    assert "sesame" not in caplog.text


@pytest.mark.parametrize("module", ["keyring.backends.fail", "keyring.backends.null", "keyrings.alt.file"])
def test_a_keyring_that_keeps_nothing_or_in_the_clear_does_not_count(
    fake: FakeKeyring, tmp_path: Path, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeKeyring, "__module__", module)
    assert asyncio.run(Credentials(tmp_path).store("p", "sesame")) == "file"
    with pytest.raises(NoKeyring):
        asyncio.run(Credentials(tmp_path).find("p", "keyring"))


def test_a_secret_that_can_be_kept_nowhere_is_refused_with_a_sentence(fake: FakeKeyring, tmp_path: Path) -> None:
    fake.error = RuntimeError()
    with pytest.raises(WorldError, match=r"^invite_not_kept .*No such file or directory$"):
        asyncio.run(Credentials(tmp_path / "gone").store("p", "sesame"))


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").write_text("{")
    with pytest.raises(WorldError, match="invites_unreadable"):
        asyncio.run(Credentials(tmp_path).find("p", "file"))

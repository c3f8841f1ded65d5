"""The volunteer's identity: one key, moved between machines under a passphrase."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.api.errors import UsageError
from core.api.identity import ExportIdentity, GetIdentity, IdentityExport, IdentityInfo, ImportIdentity
from core.api.preferences.commands import PreferenceInfo, ResetPreference, SetPreference
from core.client.profile import Profile
from tests.fakes.running_engine import RunningEngine

PASSPHRASE = "correct horse battery"


def exported(engine: RunningEngine) -> str:
    return engine.ask(ExportIdentity(PASSPHRASE), IdentityExport).text


def cli(engine: RunningEngine, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "app", "identity", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "IDLEHIVE_HOME": str(engine.home.path)},
    )


def test_the_key_is_made_once_and_only_the_owner_reads_it(engine: RunningEngine) -> None:
    info = engine.start().ask(GetIdentity(), IdentityInfo)
    assert engine.ask(GetIdentity(), IdentityInfo) == info
    assert len(info.id) == 64
    assert stat.S_IMODE(engine.home.volunteer.stat().st_mode) == 0o600


def test_an_exported_identity_is_the_same_on_another_machine(engine: RunningEngine, tmp_path: Path) -> None:
    here = engine.start().ask(GetIdentity(), IdentityInfo)
    text = exported(engine)
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    other = RunningEngine(Profile(tmp_path / "other-home"), other_folder)
    try:
        assert other.start().ask(ImportIdentity(text, PASSPHRASE), IdentityInfo).id == here.id
        assert other.ask(GetIdentity(), IdentityInfo).id == here.id
    finally:
        other.clean_up()


def test_no_secret_stands_in_export_or_logs(engine: RunningEngine) -> None:
    text = exported(engine.start())
    secret = engine.home.volunteer.read_bytes()
    logs = b"".join(path.read_bytes() for path in engine.home.logs.iterdir())
    for place in (text.encode(), logs):
        assert secret not in place
        assert secret.hex().encode() not in place
        assert PASSPHRASE.encode() not in place


def test_another_identity_is_not_given_up_unasked(engine: RunningEngine) -> None:
    old = engine.start().ask(GetIdentity(), IdentityInfo)
    text = exported(engine)
    engine.home.volunteer.unlink()
    new = engine.ask(GetIdentity(), IdentityInfo)
    assert new.id != old.id
    with pytest.raises(UsageError, match="identity_exists"):
        engine.ask(ImportIdentity(text, PASSPHRASE), IdentityInfo)
    assert engine.ask(GetIdentity(), IdentityInfo).id == new.id
    assert engine.ask(ImportIdentity(text, PASSPHRASE, replace=True), IdentityInfo).id == old.id


def test_wrong_passphrases_and_damaged_files_change_nothing(engine: RunningEngine) -> None:
    own = engine.start().ask(GetIdentity(), IdentityInfo)
    text = exported(engine)
    damaged = json.dumps({**json.loads(text), "id": "00" * 32})
    for wrong, passphrase in ((text, "something else"), (damaged, PASSPHRASE), ("{}", PASSPHRASE), ("", PASSPHRASE)):
        with pytest.raises(UsageError):
            engine.ask(ImportIdentity(wrong, passphrase, replace=True), IdentityInfo)
    with pytest.raises(UsageError, match="passphrase_too_short least=8"):
        engine.ask(ExportIdentity("short"), IdentityExport)
    assert engine.ask(GetIdentity(), IdentityInfo) == own


@pytest.mark.parametrize("name", ["a" * 33, "turn\u202eround", "two\x00parts"])
def test_a_name_that_misleads_is_refused(engine: RunningEngine, name: str) -> None:
    engine.start()
    with pytest.raises(UsageError):
        engine.ask(SetPreference("display_name", name), PreferenceInfo)


def test_the_name_is_kept_until_it_is_taken_back(engine: RunningEngine) -> None:
    assert (
        engine.start().ask(SetPreference("display_name", " Ann  of the Hill"), PreferenceInfo).value
        == "Ann of the Hill"
    )
    assert engine.snapshot().settings.display_name == "Ann of the Hill"
    assert engine.ask(ResetPreference("display_name"), PreferenceInfo).value == ""


def test_the_command_line_moves_an_identity(engine: RunningEngine, tmp_path: Path) -> None:
    own = engine.start().ask(GetIdentity(), IdentityInfo)
    file = tmp_path / "ann.identity"
    done = cli(engine, "export", str(file), stdin=f"{PASSPHRASE}\n")
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert cli(engine, "export", str(file), stdin=f"{PASSPHRASE}\n").returncode == 2, "the file is there"
    engine.home.volunteer.unlink()
    engine.ask(GetIdentity(), IdentityInfo)
    assert cli(engine, "import", str(file), stdin=f"{PASSPHRASE}\n").returncode == 2
    assert cli(engine, "import", str(file), stdin="\n").returncode == 2
    done = cli(engine, "import", str(file), "--replace", "--json", stdin=f"{PASSPHRASE}\n")
    assert json.loads(done.stdout)["id"] == own.id

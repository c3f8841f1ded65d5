"""`idlehive update`: what is offered, its installation with progress, on and off."""

import json
import threading

import pytest
from msgspec.structs import replace

from core.api.installation.release import CheckRelease, InstallRelease, Offer, ReleaseStatus
from core.api.message import Message
from core.api.preferences.commands import SetPreference
from core.client import engine_client
from tests.cli.conftest import RunCli, StartCli
from tests.cli.given import ACTIVE, the_line
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import info

CURRENT = replace(ACTIVE, release=ReleaseStatus("portable", checked_at=1_700_000_000.0))
LATER = 1_700_000_900.0
OFFERED = replace(ACTIVE, release=ReleaseStatus("portable", 1_700_000_000.0, Offer("0.2.0", "- Faster.", 43_000_000)))


def test_a_checkout_says_that_it_does_not_look_for_new_versions(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(ACTIVE)
    assert (
        run_cli("update").stdout == "Idlehive does not look for new versions here. Get them where you got this one.\n"
    )


def test_what_is_new_is_shown_with_the_command_that_installs_it(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(OFFERED)
    said = run_cli("update").stdout.replace("\N{NO-BREAK SPACE}", " ")
    assert said == "Idlehive 0.2.0 is available (43.0 MB).\n\n- Faster.\n\nidlehive update install\n"
    assert json.loads(run_cli("update", "--json").stdout)["offer"]["version"] == "0.2.0"


def test_a_check_is_followed_to_its_end(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(CheckRelease, lambda _: engine.show(OFFERED))
    assert "0.2.0 is available" in run_cli("update", "check").stdout
    assert engine.received(CheckRelease) == [CheckRelease()]


def test_a_check_that_fails_says_why(engine: ScriptedEngine, run_cli: RunCli) -> None:
    failed = replace(ACTIVE, release=ReleaseStatus("deb", LATER, failure=Message("release_not_signed")))
    engine.answer(CheckRelease, lambda _: engine.show(failed))
    done = run_cli("update", "check")
    assert done.returncode == 1
    assert "not signed by the publisher" in the_line(done.stderr)


@pytest.mark.parametrize("fails", [True, False])
def test_an_engine_that_was_started_for_an_installation_ends_with_it(
    engine: ScriptedEngine, run_cli: RunCli, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr(engine_client, "ensure_engine", lambda _: True)
    failure = Message("release_not_signed") if fails else None
    checked = replace(CURRENT, release=replace(CURRENT.release, checked_at=LATER, failure=failure))
    engine.answer(CheckRelease, lambda _: engine.show(checked))
    assert run_cli("update", "install").returncode == int(fails)
    assert engine.ended.wait(5)


def test_an_installation_checks_first_and_shows_its_progress(engine: ScriptedEngine, start_cli: StartCli) -> None:
    engine.answer(CheckRelease, lambda _: engine.show(OFFERED))
    downloading = replace(OFFERED.release, checked_at=LATER, step="downloading", done=5_000_000)
    engine.answer(InstallRelease, lambda _: engine.show(replace(OFFERED, release=downloading)))
    process = start_cli("update", "install")
    assert process.stderr is not None
    line = process.stderr.readline().replace("\N{NO-BREAK SPACE}", " ")
    assert line == "Downloading the new version: 5.0 MB of 43.0 MB.\n"
    there = replace(OFFERED.release, checked_at=LATER, package="deb", file="/home/me/idlehive_0.2.0_amd64.deb")
    engine.show(replace(OFFERED, release=there))
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert said.splitlines()[1] == "sudo apt install /home/me/idlehive_0.2.0_amd64.deb"


def test_the_end_of_an_engine_that_was_replaced_is_no_failure(engine: ScriptedEngine, start_cli: StartCli) -> None:
    engine.answer(CheckRelease, lambda _: engine.show(OFFERED))
    installing = replace(OFFERED, release=replace(OFFERED.release, checked_at=LATER, step="installing"))
    engine.answer(InstallRelease, lambda _: engine.show(installing))
    process = start_cli("update", "install")
    assert process.stderr is not None
    assert process.stderr.readline() == "Installing the new version…\n"
    engine.stop()
    said, _ = process.communicate(timeout=20)
    assert (process.returncode, said) == (0, "Idlehive 0.2.0 is installed and starts again.\n")


def test_a_snapshot_from_before_the_check_does_not_count(engine: ScriptedEngine, start_cli: StartCli) -> None:
    engine.show(CURRENT)
    begun = threading.Event()
    engine.answer(CheckRelease, lambda _: begun.set())
    process = start_cli("update", "check")
    assert begun.wait(20)
    engine.show(replace(CURRENT, changes=1))
    engine.show(replace(OFFERED, release=replace(OFFERED.release, checked_at=LATER)))
    said, _ = process.communicate(timeout=20)
    assert "0.2.0 is available" in said


def test_without_a_newer_version_nothing_is_installed(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(CheckRelease, lambda _: engine.show(CURRENT))
    assert run_cli("update", "install").stdout.startswith("There is no newer version.")
    assert engine.received(InstallRelease) == []


def test_the_daily_check_is_switched_off_and_on(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(SetPreference, info("check_releases"))
    assert run_cli("update", "off").stdout == "Idlehive looks for new versions only when you ask.\n"
    assert json.loads(run_cli("update", "on", "--json").stdout) == {"check_releases": True}
    sent = [SetPreference("check_releases", False), SetPreference("check_releases", True)]
    assert engine.received(SetPreference) == sent

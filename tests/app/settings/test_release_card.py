"""New versions on the settings page: what is offered, what a click does, what an administrator types."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.settings.page import SettingsPage
from app.settings.release_card import ReleaseCard
from app.window.main_window import MainWindow
from core.api.errors import UsageError
from core.api.installation.release import CheckRelease, InstallRelease, Offer, ReleaseStatus
from core.api.message import Message
from core.api.preferences.commands import ListPreferences, SetPreference
from core.api.snapshot import Snapshot
from tests.app.snapshots import IDLE
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import info

OFFER = Offer("0.2.0", "- Faster.\n- Smaller.", 43_000_000)
Show = Callable[[Snapshot], None]


@pytest.fixture
def card(window: MainWindow) -> ReleaseCard:
    window.open_named("settings")
    page = window.findChild(SettingsPage)
    assert page is not None
    return page.release


def offered(package: str, **other: object) -> Snapshot:
    return replace(IDLE, release=replace(ReleaseStatus(package, 1_700_000_000.0, OFFER), **other))


def test_without_a_publisher_there_is_nothing_to_press(card: ReleaseCard, show: Show) -> None:
    show(IDLE)
    assert "does not look for new versions" in card.text.text()
    assert not any(part.isVisible() for part in (card.check, card.install, card.copy, card.row, card.changelog))


def test_a_portable_build_is_replaced_by_one_click(
    card: ReleaseCard, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(offered("portable"))
    assert "0.2.0" in card.text.text()
    assert card.changelog.toPlainText() == OFFER.changelog
    assert card.install.text() == "Install and start again"
    card.install.click()
    qtbot.waitUntil(lambda: engine.received(InstallRelease) == [InstallRelease()])
    show(offered("portable", step="downloading", done=5_000_000))
    assert not card.install.isEnabled()
    assert not card.check.isEnabled()


def test_of_a_package_the_command_is_shown_and_copied(card: ReleaseCard, show: Show) -> None:
    show(offered("deb"))
    assert card.install.text() == "Download"
    show(offered("deb", file="/home/me/idlehive_0.2.0_amd64.deb"))
    assert not card.install.isVisible()
    card.copy.click()
    assert QGuiApplication.clipboard().text() == "sudo apt install /home/me/idlehive_0.2.0_amd64.deb"


def test_a_check_that_fails_says_why_and_can_be_repeated(
    card: ReleaseCard, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(replace(IDLE, release=ReleaseStatus("deb", 1.0, failure=Message("release_not_signed"))))
    assert "not signed" in card.text.text()
    engine.answer(CheckRelease, UsageError("release_no_publisher"))
    card.check.click()
    qtbot.waitUntil(lambda: "names no publisher" in card.problem.label.text())


def test_the_daily_check_is_switched_off(card: ReleaseCard, show: Show, engine: ScriptedEngine, qtbot: QtBot) -> None:
    show(offered("deb"))
    qtbot.waitUntil(card.daily.isChecked)
    engine.answer(ListPreferences, [replace(info("check_releases"), value=False)])
    engine.answer(SetPreference, info("check_releases"))
    card.daily.click()
    qtbot.waitUntil(lambda: engine.received(SetPreference) == [SetPreference("check_releases", False)])
    qtbot.waitUntil(lambda: not card.daily.isChecked())

"""The settings page: each control changes what it names, at once, and shows what is so."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.desktop.window_settings import Settings
from app.settings import about
from app.settings.page import SettingsPage
from app.widgets import theme
from app.widgets.basic import Label
from app.window.main_window import MainWindow
from core.api.disk import DiskUse, FreeSpace, GetDiskUse
from core.api.snapshot import Snapshot
from core.client.installation import ROOT, version
from core.client.profile import Profile
from tests.app.snapshots import IDLE
from tests.fakes.scripted_engine import ScriptedEngine


@pytest.fixture
def page(window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SettingsPage]:
    """Opened; what starts at login is in a folder of the test's own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    window.open_named("settings")
    found = window.findChild(SettingsPage)
    assert found is not None
    yield found
    window.open_named("home")


def texts(page: SettingsPage) -> str:
    return "\n".join(label.text() for label in page.findChildren(Label) if label.isVisible())


def test_start_at_login_writes_and_removes_its_file(page: SettingsPage, tmp_path: Path) -> None:
    page.login.click()
    assert [path.suffix for path in (tmp_path / "autostart").iterdir()] == [".desktop"]
    assert page.login.isChecked()
    page.login.click()
    assert list((tmp_path / "autostart").iterdir()) == []


def test_a_login_file_that_cannot_be_written_is_told_and_the_switch_stays_off(
    page: SettingsPage, tmp_path: Path
) -> None:
    (tmp_path / "autostart").write_text("")
    page.login.click()
    assert "cannot be written" in texts(page)
    assert not page.login.isChecked()


def test_in_a_sandbox_start_at_login_is_off_and_the_page_says_why(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SNAP", str(ROOT))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    window.open_named("settings")
    page = window.findChild(SettingsPage)
    assert page is not None
    assert "Start at login is not supported on this system." in texts(page)
    page.login.click()
    assert (page.login.isChecked(), list(tmp_path.iterdir())) == (False, [])


def test_notifications_can_be_switched_off_and_stay_so(page: SettingsPage, profile: Profile) -> None:
    assert page.notifications.isChecked()
    page.notifications.click()
    assert not Settings(profile).notifications


def test_a_theme_is_chosen_and_kept(page: SettingsPage, profile: Profile) -> None:
    page.scheme.setCurrentIndex(page.scheme.findData("dark"))
    page.scheme.activated.emit(page.scheme.currentIndex())
    assert Settings(profile).scheme == "dark"


def test_a_chosen_theme_is_worn_whatever_the_desktop_has(qapp: QApplication) -> None:
    try:
        theme.choose_scheme(qapp, "dark")
        assert theme.tokens() is theme.DARK
        theme.choose_scheme(qapp, "light")
        assert theme.tokens() is theme.LIGHT
    finally:
        theme.choose_scheme(qapp, "system")
        theme.apply(qapp, theme.LIGHT)


def test_versions_of_window_and_engine_are_told_where_they_differ(
    page: SettingsPage, show: Callable[[Snapshot], None], qtbot: QtBot
) -> None:
    show(replace(IDLE, version="9.9.9"))
    assert "The running engine is 9.9.9: quit both to change it." in texts(page)
    show(replace(IDLE, version=version()))
    assert "9.9.9" not in texts(page)


def test_what_it_is_made_with_is_listed_with_licences_when_asked_for(page: SettingsPage, qtbot: QtBot) -> None:
    page.licences.click()
    qtbot.waitUntil(lambda: "hivemind" in texts(page))
    assert "LGPL-3.0-only OR GPL-2.0-only" in texts(page)
    assert all(component.licence and component.version for component in about.components())


def test_the_disk_is_shown_by_kind_and_space_is_freed(window: MainWindow, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(GetDiskUse, DiskUse(3_400_000_000, 0, 0, 2_000_000, 0, 0, 3_400_000_000, 41_000_000_000))
    engine.answer(FreeSpace, DiskUse(0, 0, 0, 2_000_000, 0, 0, 0, 44_400_000_000))
    window.open_named("settings")
    page = window.findChild(SettingsPage)
    assert page is not None
    qtbot.waitUntil(lambda: "Data of projects" in texts(page) and not page._link._requests)
    assert page.disk.measured.text().startswith("Measured at ")
    page.disk.free.click()
    qtbot.waitUntil(lambda: "Nothing can be deleted now." in texts(page) and "Data of projects" not in texts(page))
    assert not page.disk.free.isEnabled()


def test_the_doctor_is_run_and_copied_without_names(
    page: SettingsPage, profile: Profile, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDLEHIVE_HOME", str(profile.path))
    monkeypatch.setattr("app.settings.doctor_card.Path.home", lambda: profile.path)
    monkeypatch.setattr("app.settings.doctor_card.platform.node", lambda: "Python")
    assert not page.doctor.copy.isEnabled()
    page.doctor.check.click()
    # Qt shows a widget that is added to a visible page with the next event only.
    qtbot.waitUntil(lambda: page.doctor.copy.isEnabled() and "profile: " in texts(page), timeout=30_000)
    assert page.doctor.checked.text().startswith("Checked at ")
    page.doctor.copy.click()
    report = QGuiApplication.clipboard().text()
    assert "profile: ~." in report
    assert "python: " in report
    assert str(profile.path) not in report
    assert "Python" not in report

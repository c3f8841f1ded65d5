"""Several machines in one window."""

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.desktop import language
from app.history.page import HistoryPage
from app.link.engine_link import Link
from app.link.remote_link import RemoteLink
from app.log.page import LogPage
from app.text import i18n
from app.widgets import theme
from app.window.machine_switcher import MachineSwitcher
from app.window.main_window import MainWindow
from core.api.errors import WorldError
from core.api.intent import Pause
from core.api.record.record import ImportHistory, Written
from core.api.snapshot import Snapshot
from core.client import ssh
from core.client.machines import Machines
from core.client.profile import Profile
from tests.fakes.scripted_engine import ScriptedEngine
from tests.fakes.ssh_server import SshServer, needs_sshd


def entries(window: MainWindow) -> list[str]:
    window._machines.fill()
    return [action.text() for action in window._machines.menu_of_machines.actions() if action.text()]


def choose(window: MainWindow, beginning: str) -> None:
    window._machines.fill()
    actions = window._machines.menu_of_machines.actions()
    next(action for action in actions if action.text().startswith(beginning)).trigger()


@needs_sshd
def test_the_window_shows_and_pauses_another_machine_and_comes_back(
    window: MainWindow, engine: ScriptedEngine, ssh_server: SshServer, far: Profile, qtbot: QtBot
) -> None:
    engine.show(Snapshot("idle", project_name="Here"))
    with ScriptedEngine(far) as there:
        there.show(Snapshot("contributing", project="bees", project_name="Over there", wanted=True))
        dialog = window._machines.add()
        dialog.name.setText("workshop")
        dialog.address.setText("ssh://lab")
        dialog.submit()
        link = window._link
        qtbot.waitUntil(lambda: link.state is Link.UP and link.snapshot is not None, timeout=15_000)
        assert window.windowTitle() == "workshop – Idlehive"
        assert window._sidebar._engine.text() == "Connected"
        assert window._settings.machine == "workshop"
        window.open_named("limits")
        window.home.perform(Pause())
        qtbot.waitUntil(lambda: there.received(Pause) == [Pause()])
        assert engine.received(Pause) == []
        assert entries(window)[:2] == ["This computer", "workshop"]
        choose(window, "This computer")
        assert window.shows_this_computer
        assert window._link.state is Link.UP
        assert window._settings.machine == ""
    window.disconnect_machine()


@needs_sshd
def test_the_machine_that_was_shown_last_is_shown_again(
    window: MainWindow, ssh_server: SshServer, far: Profile, profile: Profile, qtbot: QtBot
) -> None:
    Machines(profile).add("workshop", "ssh://lab")
    window._settings.machine = "workshop"
    window.show_last_machine()
    assert not window.shows_this_computer
    qtbot.waitUntil(window._notice.isVisible, timeout=10_000)
    assert window._notice.label.text() == "No engine is running on workshop."
    assert window._notice.action.text() == "Connect, and start it there"
    choose(window, "Remove workshop")
    assert window.shows_this_computer
    assert Machines(profile).all() == []
    window._settings.machine = "gone"
    window.show_last_machine()
    assert window.shows_this_computer


def test_the_connection_to_a_machine_that_is_no_longer_shown_is_deleted(
    window: MainWindow, profile: Profile, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setenv("PATH", "")
    for name in ("lab", "nas"):
        window.show_machine(Machines(profile).add(name, f"ssh://{name}"))
    window.show_machine(None)
    qtbot.waitUntil(lambda: not window.findChildren(RemoteLink))


def test_a_machine_that_cannot_be_added_is_explained_in_the_dialog(window: MainWindow, profile: Profile) -> None:
    dialog = window._machines.add()
    dialog.name.setText("lab")
    dialog.address.setText("http://lab")
    dialog.submit()
    assert "is not the address of a machine" in dialog.problem.label.text()
    assert dialog.isVisible()
    assert Machines(profile).all() == []
    dialog.reject()


def test_a_machine_that_is_no_longer_in_the_list_can_be_removed_but_not_renamed(
    window: MainWindow, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    lab = Machines(profile).add("lab", "ssh://lab")
    window.show_machine(lab)
    Machines(profile).remove("lab")
    dialog = window._machines.rename(lab)
    dialog.name.setText("workshop")
    dialog.submit()
    assert "There is no machine called lab" in dialog.problem.label.text()
    dialog.reject()
    choose(window, "Remove lab")
    assert window.shows_this_computer


def test_a_list_that_cannot_be_written_is_said(
    window: MainWindow, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    window.show_machine(Machines(profile).add("lab", "ssh://lab"))
    (profile.path / "machines.json").write_text("[{")
    choose(window, "Remove lab")
    assert "cannot be read" in window._machines.toolTip()
    window.show_machine(None)


def test_files_of_this_computer_are_not_offered_for_another_one(
    window: MainWindow, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    window.show_machine(Machines(profile).add("lab", "ssh://lab"))
    window.open_named("history")
    page = window._stack.currentWidget()
    assert isinstance(page, HistoryPage)
    assert set(page.files.actions) == {"summary", "certificate", "delete"}
    window.open_named("log")
    log = window._stack.currentWidget()
    assert isinstance(log, LogPage)
    assert not log.technical.isVisible()
    window.show_machine(None)


def test_the_history_of_all_machines_comes_together_and_who_failed_is_named(
    window: MainWindow, engine: ScriptedEngine, profile: Profile, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    for name in ("lab", "nas"):
        Machines(profile).add(name, f"ssh://{name}")

    def fetch(machine: object, *words: str, seconds: float) -> bytes:
        if machine == Machines(profile).named("nas"):
            raise WorldError("machine_silent", machine="nas")
        return b"{}"

    monkeypatch.setattr(ssh, "fetch", fetch)
    engine.answer(ImportHistory, Written("/history.json", 2, 30, 7))
    window.open_named("history")
    page = window._stack.currentWidget()
    assert isinstance(page, HistoryPage)
    page.files.actions["collect"].trigger()
    told = "Your other machines are read: 7 hours new. nas does not answer."
    qtbot.waitUntil(lambda: page.files.notice.label.text() == told, timeout=10_000)


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize("code", i18n.languages())
def test_the_name_of_this_computer_is_whole_in_the_smallest_window(
    qapp: QApplication, profile: Profile, qtbot: QtBot, code: str
) -> None:
    language.apply(qapp, code)
    theme.apply(qapp, theme.LIGHT)
    switcher = MachineSwitcher(profile, None, lambda _: None)
    qtbot.addWidget(switcher)
    switcher.setFixedWidth(theme.NARROW_SIDEBAR_WIDTH - 24)
    switcher.show()
    assert switcher.text() == i18n.tr("This computer")

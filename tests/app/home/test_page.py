"""The home page follows the snapshot, and its button reaches the engine."""

import time
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.home.epoch_ring import EpochRing
from app.home.page import HomePage
from app.home.step_chips import StepChips
from app.link.engine_link import EngineLink, Link
from app.settings.page import SettingsPage
from app.widgets.basic import Notice
from app.widgets.charts.learning_curve import CurveView
from app.window.main_window import MainWindow
from core.api.errors import WorldError
from core.api.installation.release import Offer, ReleaseStatus
from core.api.intent import Contribute, Pause, Resume
from core.api.machines import Machine
from core.api.message import Message
from core.api.preferences.commands import SetPreference
from core.api.preferences.schedule import ScheduleState
from core.api.project.projects import CurvePoint, GetCurve
from core.api.protocol import Event
from core.api.reasons import Reason
from core.api.session_settings import SessionSettings
from core.api.snapshot import GpuUse, Place, Snapshot
from tests.app.home.parts import part, texts
from tests.app.snapshots import CONTRIBUTING, IDLE, PROGRESS, STARTING, failed, paused
from tests.fakes.scripted_engine import ScriptedEngine

Show = Callable[[Snapshot], None]
CURVE = [CurvePoint(epoch, loss=4 - epoch / 10, own_samples=epoch % 2) for epoch in range(1, 11)]


def test_contributing_shows_project_figures_and_step(page: HomePage, show: Show, qtbot: QtBot) -> None:
    show(CONTRIBUTING)
    # Qt shows what is new on a page a moment later.
    qtbot.waitUntil(lambda: "2.1" in texts(page))
    shown = texts(page).replace("\N{NARROW NO-BREAK SPACE}", " ").replace("\N{NO-BREAK SPACE}", " ")
    for text in ("Contributing", "Birdsong", "14 peers are filling", "48 210", "152", "2.1", "3.4", "Mbit/s"):
        assert text in shown
    assert "Accumulate" in part(page, StepChips).accessibleName()
    assert "Epoch" in part(page, EpochRing).accessibleName()


def test_a_session_at_rest_has_no_speed_and_one_that_looks_for_peers_does_not_count_them(
    page: HomePage, show: Show
) -> None:
    show(replace(CONTRIBUTING, state="holding"))
    assert "152" not in texts(page)
    show(STARTING)
    assert "only you so far" not in texts(page)


def test_the_page_says_how_others_reach_this_computer_and_asks_once_for_a_port(
    page: HomePage, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    assert "Only outgoing connections" in texts(page)
    assert page.port_question.isVisible()
    QTest.mouseClick(page.port_question.allow, Qt.MouseButton.LeftButton)
    assert engine.wait_for(SetPreference) == SetPreference("port_mapping", "yes")
    for answer in ("yes", "no"):
        show(replace(CONTRIBUTING, settings=SessionSettings(port_mapping=answer)))
        assert not page.port_question.isVisible()
    show(replace(CONTRIBUTING, reachability="router"))
    assert "Reachable: port mapped by the router" in texts(page)
    assert not page.port_question.isVisible()


def test_the_button_contributes_then_pauses_then_resumes(
    page: HomePage, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(IDLE)
    QTest.mouseClick(page.button.main, Qt.MouseButton.LeftButton)
    assert engine.wait_for(Contribute) == Contribute(None)
    show(CONTRIBUTING)
    assert page.button.main.text() == "Pause"
    qtbot.waitUntil(page.button.main.isEnabled)
    QTest.mouseClick(page.button.main, Qt.MouseButton.LeftButton)
    assert engine.wait_for(Pause) == Pause()
    show(paused())
    assert page.button.main.text() == "Resume"
    qtbot.waitUntil(page.button.main.isEnabled)
    QTest.mouseClick(page.button.main, Qt.MouseButton.LeftButton)
    engine.wait_for(Resume)


def test_space_presses_the_big_button_as_soon_as_the_window_is_there(
    window: MainWindow, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    focused = window.focusWidget()
    assert focused is window.home.button.main
    QTest.keyClick(focused, Qt.Key.Key_Space)
    engine.wait_for(Pause)


def test_the_menu_pauses_for_half_an_hour(page: HomePage, show: Show, engine: ScriptedEngine) -> None:
    show(CONTRIBUTING)
    page.button.menu.aboutToShow.emit()
    page.button.menu.actions()[0].trigger()
    assert engine.wait_for(Pause) == Pause(1800)


def test_a_snooze_shows_its_end_and_counts_down(page: HomePage, show: Show, qtbot: QtBot) -> None:
    show(paused(time.time() + 30.4))
    assert "Paused until" in texts(page)
    assert "30\N{NO-BREAK SPACE}s left" in texts(page)
    qtbot.waitUntil(lambda: "28\N{NO-BREAK SPACE}s left" in texts(page))


def test_nothing_ticks_when_nothing_counts_down_or_nobody_looks(window: MainWindow, page: HomePage, show: Show) -> None:
    show(CONTRIBUTING)
    assert not page._second.isActive()
    show(paused(time.time() + 60))
    assert page._second.isActive()
    window.hide()
    assert not page._second.isActive()


def test_a_failure_tells_the_error_and_the_retry(page: HomePage, show: Show) -> None:
    show(failed(time.time() + 20))
    assert "Waiting to retry in" in texts(page)
    assert "None of the project's peers answers" in texts(page)


def test_a_refusal_is_told_on_the_page(page: HomePage, show: Show, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(Contribute, WorldError("The project's manifest cannot be fetched."))
    show(IDLE)
    page.button.main.click()
    qtbot.waitUntil(lambda: "The project's manifest cannot be fetched." in texts(page))
    assert page.button.main.isEnabled()


def test_the_curve_is_fetched_once_an_epoch(page: HomePage, show: Show, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(GetCurve, CURVE)
    show(CONTRIBUTING)
    view = part(page, CurveView)
    qtbot.waitUntil(lambda: list(view.points) == CURVE)
    show(replace(CONTRIBUTING, progress=replace(PROGRESS, epoch_samples=3000)))
    show(replace(CONTRIBUTING, progress=replace(PROGRESS, epoch=1285)))
    engine.wait_for(GetCurve, 2)
    assert len(engine.received(GetCurve)) == 2
    assert "yours: 5 epochs" in view.accessibleName()


def test_the_first_epoch_is_celebrated_once(page: HomePage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    without_own = Event("epoch_done", Message("epoch_done", {"epoch": 3, "samples": 8}), 1.0, "birds", 3, loss=None)
    own = Event("epoch_done", Message("epoch_done", {"epoch": 4, "samples": 8}), 2.0, "birds", 4, loss=2.5)
    engine.tell(without_own)
    engine.tell(own)
    qtbot.waitUntil(lambda: "Your first epoch is done" in texts(page))
    reward = next(notice for notice in page.findChildren(Notice) if notice.isVisible())
    reward.action.click()
    engine.tell(own)
    engine.tell(Event("warning", Message("no_space"), 3.0))
    qtbot.waitUntil(lambda: "the disk is full" in texts(page))
    assert "Your first epoch is done" not in texts(page)


def test_without_an_engine_no_figure_looks_live(
    page: HomePage, link: EngineLink, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    engine.stop()
    qtbot.waitUntil(lambda: link.state is Link.GONE)
    assert "The engine does not answer" in texts(page)
    assert "14 peers" not in texts(page)
    assert "2.1" not in texts(page)
    assert not page.button.main.isEnabled()


def test_tiles_stand_two_by_two_in_a_small_window_and_nothing_is_cut_off(
    window: MainWindow, show: Show, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    tops = [tile.y() for tile in window.home._tiles.all]
    assert len(set(tops)) == 1
    window.resize(window.minimumSize())
    qtbot.waitUntil(lambda: len({tile.y() for tile in window.home._tiles.all}) == 2)
    # Qt updates the layout of the sentences after that of the tiles.
    qtbot.waitUntil(lambda: window.home.horizontalScrollBar().maximum() == 0)


def test_every_control_has_a_name_and_can_be_reached_by_keyboard(window: MainWindow, show: Show) -> None:
    show(CONTRIBUTING)
    controls = [control for control in window.findChildren(QWidget) if isinstance(control, QAbstractButton | QLineEdit)]
    assert len(controls) >= 5
    for control in controls:
        assert control.accessibleName(), control
        # In a group of pages Tab goes to the chosen one, and the arrow keys to the others.
        in_group = isinstance(control, QAbstractButton) and control.group() is not None
        assert in_group or control.focusPolicy() & Qt.FocusPolicy.TabFocus, control.accessibleName()


def test_the_use_of_the_computer_takes_the_place_of_the_peers_while_it_works(
    window: MainWindow, page: HomePage, show: Show
) -> None:
    show(replace(CONTRIBUTING, gpu=GpuUse("RTX 3060", 63, 66, 112)))
    assert "This computer" in texts(page)
    assert "Peers" not in texts(page)
    assert len({tile.y() for tile in window.home._tiles.all}) == 1
    show(CONTRIBUTING)
    assert "Peers" in texts(page)


def test_the_place_among_all_is_shown_where_it_is_known(page: HomePage, show: Show) -> None:
    show(CONTRIBUTING)
    assert page.place.text() == ""
    show(replace(CONTRIBUTING, place=Place(3, 14, 4800, 0.12, 0.0)))
    assert " ".join(page.place.text().split()) == "You: place 3 of 14, 12 % of all samples"


def test_a_start_says_for_how_long_each_step_has_lasted(
    page: HomePage, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(STARTING)
    began = page._stage[1]
    monkeypatch.setattr("app.home.page.time.time", lambda: began + 12)
    page._show_words()
    assert " ".join(page._left.text().split()) == "12 s so far"
    show(replace(STARTING, state="joining"))
    assert " ".join(page._left.text().split()) == "0 s so far"
    show(CONTRIBUTING)
    assert page._left.text() == ""


def test_beside_a_limit_of_ones_own_is_a_menu_to_contribute_anyway(
    page: HomePage, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    assert page.anyway.isHidden()
    show(replace(CONTRIBUTING, state="holding", reasons=(Reason("on_battery", hold=True),)))
    assert page.anyway.isVisible()
    assert page.remedy.isVisible()
    page.anyway.click()
    page.anyway.durations.actions()[0].trigger()
    page.anyway.durations.close()
    assert engine.wait_for(Contribute) == Contribute("birds", 3600.0, anyway=("on_battery",))
    show(replace(CONTRIBUTING, anyway=("on_battery",), schedule=ScheduleState(override_until=time.time() + 3599)))
    assert "1\N{NO-BREAK SPACE}h left, then within your limits" in texts(page)


def test_a_new_version_is_said_once_and_leads_to_the_settings(window: MainWindow, page: HomePage, show: Show) -> None:
    offered = replace(IDLE, release=ReleaseStatus("portable", offer=Offer("0.2.0", "", 1)))
    show(offered)
    assert "Idlehive 0.2.0 is available." in texts(page)
    next(button for button in page.findChildren(QAbstractButton) if button.text() == "Show…").click()
    assert isinstance(window._stack.currentWidget(), SettingsPage)
    window.open_named("home")
    notice = next(notice for notice in page.findChildren(Notice) if "0.2.0" in notice.label.text())
    notice.action.click()
    show(replace(offered, changes=1))
    assert "0.2.0" not in texts(page)


def test_a_new_version_for_another_machine_is_not_offered_here(
    page: HomePage, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EngineLink, "machine", Machine("lab", "ssh://lab.example"))
    show(replace(IDLE, release=ReleaseStatus("portable", offer=Offer("0.2.0", "", 1))))
    assert "0.2.0" not in texts(page)

"""Nothing that can be pressed moves when values arrive."""

import time
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app.desktop import language
from app.link.engine_link import EngineLink
from app.text.i18n import languages
from app.text.wordings.reasons import REASONS
from app.window.main_window import MainWindow
from core.api.message import Message
from core.api.protocol import Event
from core.api.reasons import Reason
from core.api.snapshot import CatchUp, GpuUse, ProcessorUse, Snapshot, Surroundings, Today, Traffic
from tests.app.full_engine import OFFER, every_page, settle
from tests.app.page_checks import SMALLEST, controls
from tests.app.snapshots import CONTRIBUTING, SILENT, STARTING, failed, paused
from tests.fakes.scripted_engine import ScriptedEngine

Show = Callable[[Snapshot], None]


def first_values(snapshot: Snapshot) -> Snapshot:
    """A session that has only begun: nothing is measured yet."""
    progress = replace(
        snapshot.progress, samples=0, own_epoch_samples=0, samples_per_second=0.0, swarm_samples_per_second=0.0, peers=1
    )
    return replace(snapshot, progress=progress, traffic=Traffic(), gpu=None, processor=None, today=Today())


def later_values(snapshot: Snapshot) -> Snapshot:
    """Long numbers everywhere."""
    progress = replace(
        snapshot.progress,
        samples=12_345_678,
        own_epoch_samples=987_654,
        samples_per_second=1234.5,
        swarm_samples_per_second=98_765.4,
        peers=12_345,
        loss=10.4567,
    )
    return replace(
        snapshot,
        progress=progress,
        traffic=Traffic(987_654_321_000, 987_654_321_000, 98_765_432.0, 98_765_432.0),
        gpu=GpuUse("GeForce RTX 3060", 100, 101, 320, 12_345_678_901),
        processor=ProcessorUse(100, 12_345_678_901),
        surroundings=Surroundings(on_battery=False, battery_level=100, metered=False, last_input=0.0, processor=100),
        today=Today(98_765_432, 86_399.0, 12_345),
    )


def places(page: QWidget) -> dict[QWidget, tuple[QPoint, tuple[int, int]]]:
    content = (page.widget() if isinstance(page, QScrollArea) else None) or page
    return {each: (each.mapTo(content, QPoint()), each.size().toTuple()) for each in controls(page)}


@pytest.mark.parametrize("width", [SMALLEST.width(), 1280])
def test_nothing_moves_under_the_pointer_when_values_arrive(
    full: MainWindow, link: EngineLink, show: Show, width: int
) -> None:
    full.resize(width, 760)
    base = link.snapshot
    assert base is not None
    moved = []
    for word, page in every_page(full):
        show(first_values(base))
        settle(full)
        before = places(page)
        for values in (base, later_values(base), first_values(base)):
            show(values)
            settle(full)
            after = places(page)
            moved += [f"{word}: {each.accessibleName()}" for each, place in before.items() if after.get(each) != place]
    assert moved == []


def states() -> Iterator[Snapshot]:
    """A project's way from waiting to contributing, a rest and an end."""
    waiting = replace(paused(), reasons=(Reason("processor_busy", True, {"share": 1.0, "limit": 0.75}),))
    known = replace(CONTRIBUTING, reachability=None)
    yield waiting
    yield replace(STARTING, transfer=None)
    yield STARTING
    yield replace(STARTING, state="joining", transfer=None)
    yield replace(STARTING, state="syncing")
    yield first_values(known)
    yield later_values(known)
    yield replace(known, state="holding", reasons=waiting.reasons)
    yield replace(STARTING, state="syncing", catching_up=CatchUp(12_345, 12_399))
    yield SILENT
    yield paused(time.time() + 3600)
    yield failed(time.time() + 60)
    for kind in REASONS:
        yield replace(known, state="idle", reasons=(Reason(kind, False, until=time.time() + 100_000),))


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize("code", languages())
@pytest.mark.parametrize("width", [SMALLEST.width(), 1280])
def test_the_large_button_stays_where_it_is_whatever_happens(
    window: MainWindow, show: Show, qapp: QApplication, width: int, code: str
) -> None:
    language.apply(qapp, code)
    window.retranslate()
    window.resize(width, 760)
    found = []
    for snapshot in states():
        show(snapshot)
        settle(window)
        place = window.home.button.mapTo(window.home.content, QPoint())
        found.append((snapshot.state, [reason.kind for reason in snapshot.reasons], place.toTuple()))
    assert len({place for _, _, place in found}) == 1, found


@pytest.mark.parametrize("width", [SMALLEST.width(), 1280])
def test_a_notice_has_its_place_below_the_large_button(
    window: MainWindow, engine: ScriptedEngine, show: Show, width: int, qtbot: QtBot
) -> None:
    window.resize(width, 760)
    show(replace(CONTRIBUTING, reachability=None))
    settle(window)
    button = window.home.button
    place = button.mapTo(window.home.content, QPoint())

    def comes(notice: str) -> None:
        qtbot.waitUntil(lambda: any(each.isVisible() and notice in each.accessibleName() for each in frames))
        settle(window)
        assert button.mapTo(window.home.content, QPoint()) == place, notice

    frames = window.home.findChildren(QFrame)
    engine.tell(Event("first_contribution", Message("first_contribution"), 0.0))
    comes("Your first samples are computed")
    engine.tell(Event("warning", Message("peers_not_reached"), 0.0))
    comes("None of the project's peers answers")
    show(CONTRIBUTING)
    comes("ask your router")
    show(replace(CONTRIBUTING, release=OFFER))
    comes("0.2.0")

"""Nothing that can be pressed moves when values arrive."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QScrollArea, QWidget

from app.link.engine_link import EngineLink
from app.window.main_window import MainWindow
from core.api.snapshot import GpuUse, ProcessorUse, Snapshot, Surroundings, Today, Traffic
from tests.app.full_engine import every_page, settle
from tests.app.page_checks import SMALLEST, controls

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

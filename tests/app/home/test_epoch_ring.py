"""The ring of the home page: it turns, shows the step of an epoch, and keeps the batch in grey."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app.home.epoch_ring import EpochRing
from app.home.page import HomePage
from app.widgets import theme
from app.window.main_window import MainWindow
from core.api.snapshot import Snapshot
from tests.app.home.parts import part
from tests.app.snapshots import CONTRIBUTING, IDLE, PROGRESS, STARTING, paused

Show = Callable[[Snapshot], None]


def test_the_ring_turns_while_getting_ready_and_only_if_window_is_visible(
    window: MainWindow, page: HomePage, show: Show, qtbot: QtBot
) -> None:
    ring = part(page, EpochRing)
    show(STARTING)
    before = ring.grab().toImage()
    qtbot.waitUntil(lambda: ring.grab().toImage() != before)
    window.hide()
    assert not ring._turning.isActive()
    window.show()
    assert ring._turning.isActive()
    show(CONTRIBUTING)
    assert not ring._turning.isActive()


@pytest.mark.parametrize("phase", ["accumulating", "finding_group", "averaging", "updating"])
def test_each_step_of_an_epoch_looks_different(page: HomePage, show: Show, phase: str) -> None:
    ring = part(page, EpochRing)
    show(IDLE)
    empty = ring.grab().toImage()
    show(replace(CONTRIBUTING, progress=replace(PROGRESS, phase=phase)))
    assert ring.grab().toImage() != empty


def test_a_pause_keeps_the_batch_and_the_peers_in_grey(page: HomePage, show: Show) -> None:
    ring, accent = part(page, EpochRing), QColor(theme.tokens().accent).rgb()
    show(IDLE)
    empty = ring.grab().toImage()
    show(CONTRIBUTING)
    assert accent in colours(ring.grab().toImage())
    for at_rest in (
        replace(CONTRIBUTING, state="holding", reasons=paused().reasons),
        replace(paused(), progress=PROGRESS),
    ):
        show(at_rest)
        seen = ring.grab().toImage()
        assert seen != empty
        assert accent not in colours(seen)
        assert ring.accessibleName().startswith("Paused. Epoch 1")
        assert page._tiles.peers.figure.text() == "14"
        assert page._tiles.peers.figure.property("role") == "muted"
    show(replace(paused(), project="bees"))
    assert page._tiles.peers.figure.text() == "–"


def colours(picture: QImage) -> set[int]:
    return {picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}

"""The window of somebody whose desktop writes twice as large."""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.desktop.window_settings import Settings
from app.history.charts.calendar import CalendarView
from app.home.epoch_ring import EpochRing
from app.link.engine_link import EngineLink
from app.schedule.week_grid import WeekGrid
from app.text.formats import times
from app.widgets import theme
from app.widgets.theme import LIGHT, Type
from app.window.main_window import MainWindow
from core.client.profile import Profile
from tests.app.full_engine import every_page, fill, settle
from tests.app.page_checks import cut_off
from tests.fakes.scripted_engine import ScriptedEngine


@pytest.fixture
def large(
    qapp: QApplication, engine: ScriptedEngine, link: EngineLink, profile: Profile, qtbot: QtBot
) -> Iterator[MainWindow]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theme, "_scale", 2.0)  # as `theme.apply` finds it when the program starts
        qapp.setFont(theme.font(Type.TEXT))
        theme.apply(qapp, LIGHT)
        fill(engine)
        window = MainWindow(link, Settings(profile))
        window.resize(1280, 860)
        window.show()
        qtbot.waitExposed(window)
        yield window
        window.hide()
        window.deleteLater()
    qapp.setFont(theme.font(Type.TEXT))
    theme.apply(qapp, LIGHT)


def test_what_is_painted_beside_shapes_has_room_for_twice_the_text(large: MainWindow) -> None:
    pages = {}
    for word, page in every_page(large):
        settle(large)
        pages[word] = page
    caption = QFontMetrics(theme.font(Type.CAPTION))
    names = max(caption.horizontalAdvance(times.short_weekday(day)) for day in range(7))
    week = pages["schedule"].findChild(WeekGrid)
    calendar = pages["history"].findChild(CalendarView)
    ring = pages["home"].findChild(EpochRing)
    assert week is not None
    assert calendar is not None
    assert ring is not None
    first = week._geometry().area(range(1), range(1))
    assert first.left() > names
    assert first.top() > caption.height()
    assert min(calendar.area(place).top() for place in range(7)) > caption.height()
    lines = sum(QFontMetrics(theme.font(kind)).capHeight() for kind in (Type.RING, Type.LABEL, Type.CAPTION))
    assert ring.height() > 2 * lines
    assert cut_off(large._sidebar) == []

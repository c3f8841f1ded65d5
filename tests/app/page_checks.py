"""What every page has to be: whole to the eye, named for those who cannot see it, and usable with the keyboard alone.

`QT_SCALE_FACTOR=3 python -m tests.app.page_checks "Noto Sans" "2026-09-30 23:30"` prints what is cut off in the
smallest window in this font at this local time, in every language, and in English from right to left.
"""

import os
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QFont, QFontInfo, QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QScrollBar,
    QWidget,
)

if TYPE_CHECKING:
    from app.window.sidebar import Sidebar

_ENTRY_PADDING = 9
"""Frame and padding of a short entry, by the style sheet."""
SMALLEST = QSize(800, 560)
MOST_PAGES = 8
MIRRORED = "right to left"


def cut_off(page: QWidget) -> list[str]:
    """Texts of a page that do not have the room they need, and scrolled pages that are wider than what is seen."""
    found = [_text_of(widget) for widget in _seen(page) if _is_cut(widget)]
    wide = [
        area for area in [page, *page.findChildren(QScrollArea)] if isinstance(area, QScrollArea) and _is_wide(area)
    ]
    return found + [f"a page that is too wide: {area.accessibleName()}" for area in wide]


def nameless(page: QWidget) -> list[str]:
    """Controls without a name for a screen reader, or without a role that says what they are."""
    found = []
    for widget in _seen(page):
        if widget.focusPolicy() is Qt.FocusPolicy.NoFocus or isinstance(widget, QScrollArea | QScrollBar):
            continue
        told = QAccessible.queryAccessibleInterface(widget)
        if not told.text(QAccessible.Text.Name) or told.role() in {
            QAccessible.Role.NoRole,
            QAccessible.Role.Client,
            QAccessible.Role.Window,
        }:
            found.append(f"{type(widget).__name__} {_text_of(widget)!r} {told.role().name}")
    return found


def controls(page: QWidget) -> set[QWidget]:
    """What a pointer can work on, and a keyboard so must: all that is enabled and no part of another control."""
    kinds = (QAbstractButton, QAbstractSlider, QComboBox, QLineEdit)
    return {
        widget
        for widget in _seen(page)
        if isinstance(widget, kinds) and widget.isEnabled() and not isinstance(widget, QScrollBar)
        if not isinstance(widget.parentWidget(), QComboBox)
    }


def _seen(page: QWidget) -> Iterator[QWidget]:
    return (widget for widget in page.findChildren(QWidget) if widget.isVisible())


def _is_cut(widget: QWidget) -> bool:
    if isinstance(widget, QLabel) and widget.text():
        if not widget.wordWrap():
            return widget.width() + 1 < widget.sizeHint().width() or widget.height() + 1 < widget.sizeHint().height()
        room = QRect(0, 0, widget.contentsRect().width(), 10_000)
        needed = QFontMetrics(widget.font()).boundingRect(room, Qt.TextFlag.TextWordWrap, widget.text())
        return needed.width() > room.width() + 1 or needed.height() > widget.contentsRect().height() + 1
    if isinstance(widget, QPushButton) and widget.text():
        words = QFontMetrics(widget.font()).size(Qt.TextFlag.TextShowMnemonic, widget.text())
        return words.width() > widget.width() or words.height() > widget.height()
    if isinstance(widget, QLineEdit) and widget.property("role") == "value":
        return QFontMetrics(widget.font()).horizontalAdvance(widget.text()) > widget.width() - 2 * _ENTRY_PADDING
    if isinstance(widget, QComboBox):
        return widget.width() + 1 < widget.minimumSizeHint().width()
    return False


def _is_wide(area: QScrollArea) -> bool:
    return area.isVisible() and area.horizontalScrollBar().maximum() > 0


def _text_of(widget: QWidget) -> str:
    if isinstance(widget, QLabel | QAbstractButton):
        return widget.text()
    return widget.accessibleName()


def has_room_for_all_pages(sidebar: "Sidebar") -> bool:
    """For `MOST_PAGES`, whether there are as many or not."""
    from app.widgets import theme

    pages = sidebar._group.buttons()
    missing = (MOST_PAGES - len(pages)) * (pages[0].height() + theme.UNIT)
    return sidebar.heightForWidth(sidebar.width()) + missing <= SMALLEST.height()


def main(font: str, moment: str) -> int:
    """Every page in every language, at the scale that the environment asks Qt for."""
    real, ahead = time.time, datetime.fromisoformat(moment).timestamp() - time.time()
    time.time = lambda: real() + ahead
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from app.desktop import language
    from app.desktop.window_settings import Settings
    from app.link.engine_link import EngineLink
    from app.text.i18n import languages
    from app.widgets import theme
    from app.window.main_window import MainWindow
    from core.client.profile import Profile
    from tests.app.full_engine import OFFER, every_page, fill, settle, welcome
    from tests.app.snapshots import CONTRIBUTING
    from tests.fakes.scripted_engine import ScriptedEngine

    application = QApplication([])
    system = QFont(font)
    system.setPixelSize(14)
    application.setFont(system)
    theme.apply(application, theme.LIGHT)
    found = [] if QFontInfo(QApplication.font()).family() == font else [f"the font {font} is not there"]
    with TemporaryDirectory(prefix="hive") as folder:
        profile = Profile(Path(folder))
        profile.prepare()
        with ScriptedEngine(profile) as engine:
            fill(engine, replace(CONTRIBUTING, release=OFFER))
            link = EngineLink(profile)
            window = MainWindow(link, Settings(profile))
            link.open()
            while link.snapshot is None:
                application.processEvents()
            window.resize(SMALLEST)
            window.show()
            for code in (*languages(), MIRRORED):
                language.apply(application, "en" if code == MIRRORED else code)
                if code == MIRRORED:
                    application.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
                window.retranslate()
                settle(window)
                for word, page in every_page(window):
                    found += [f"{code} {word}: {text!r}" for text in cut_off(page)]
                found += [f"{code} sidebar: {text!r}" for text in cut_off(window._sidebar)]
                if not has_room_for_all_pages(window._sidebar):
                    found.append(f"{code} sidebar: no room for {MOST_PAGES} pages")
                with welcome(window) as page:
                    found += [f"{code} welcome: {text!r}" for text in cut_off(page)]
            link.close()
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

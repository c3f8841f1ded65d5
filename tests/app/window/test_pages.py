"""Every page: nothing is cut off, all can be read, and every control has a name, a role and is reached by keyboard."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFontDatabase, QImage, QRegion
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink, Link
from app.widgets import theme
from app.widgets.basic import Button, Notice
from app.widgets.theme import DARK, LIGHT, Tokens
from app.window.focus_ring import FocusRing
from app.window.main_window import MainWindow
from core.client.profile import Profile
from tests.app.contrast import contrast
from tests.app.full_engine import every_page, settle, welcome
from tests.app.page_checks import SMALLEST, controls, nameless
from tests.end_to_end.machine import wait_for

ROOT = Path(__file__).parents[3]
SCRIPTS = {QFontDatabase.WritingSystem.SimplifiedChinese, QFontDatabase.WritingSystem.Bengali}
"""Those of the translations that not every desktop has a font for."""
_MAGNIFIED = 3
"""Text is drawn so much larger than on the screen, so that strokes are not mixed with what is behind them."""
LARGE_TEXT = 24
"""Pixels from which text may have less contrast (WCAG 2.2, 1.4.3: 18 pt)."""


@pytest.mark.parametrize(
    ("scale", "moment", "zone", "font"),
    [
        (1, "2026-09-23 03:30", "Europe/Berlin", "DejaVu Sans"),
        (1, "2026-12-27 14:30", "Asia/Kolkata", "Noto Sans"),
        (1, "2026-09-30 23:30", "America/New_York", "Liberation Sans"),
        (2, "2026-02-28 22:31", "Pacific/Honolulu", "Cantarell"),
        (3, "2026-09-23 23:59", "Europe/Berlin", "DejaVu Sans"),
    ],
)
def test_nothing_is_cut_off_in_the_smallest_window_in_any_language_at_any_hour_in_any_font(
    scale: int, moment: str, zone: str, font: str
) -> None:
    if not QFontDatabase.hasFamily(font):
        pytest.skip(f"the font {font} is not installed")
    if without_font := SCRIPTS - set(QFontDatabase.writingSystems()):
        pytest.skip(f"no font is installed for {', '.join(script.name for script in without_font)}")
    environment = {**os.environ, "QT_SCALE_FACTOR": str(scale), "PYTHONPATH": str(ROOT), "TZ": zone}
    command = [sys.executable, "-m", "tests.app.page_checks", font, moment]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr


class _Windows(QObject):
    """Notes the windows that open."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 — Qt's own name
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.opened.append(f"{type(watched).__name__} {watched.accessibleName()}")
        return False


def test_no_part_of_a_page_flashes_up_as_a_window_of_its_own(full: MainWindow, qapp: QApplication) -> None:
    """Qt does that to what is shown before it has been put into its place; the keyboard goes astray with it."""
    windows = _Windows()
    qapp.installEventFilter(windows)
    for _ in every_page(full):
        settle(full)
    qapp.removeEventFilter(windows)
    assert windows.opened == []


def test_every_control_has_a_name_and_a_role(full: MainWindow) -> None:
    unnamed = {word: found for word, page in every_page(full) if (found := nameless(page))}
    assert unnamed == {}
    assert nameless(full._sidebar) == []
    with welcome(full) as page:
        assert nameless(page) == []


def test_tab_reaches_every_control_of_every_page_and_the_focus_is_seen(full: MainWindow, qapp: QApplication) -> None:
    full.resize(SMALLEST)
    ring = FocusRing(qapp)
    missed = {}
    for word, page in every_page(full):
        reached = set(tab_around(full, ring))
        groups = {widget.parentWidget() for widget in reached}
        left = {each for each in controls(page) if each not in reached and not is_of_a_group(each, groups)}
        if left:
            missed[word] = [each.accessibleName() for each in left]
    ring.deleteLater()
    assert missed == {}


def tab_around(window: MainWindow, ring: FocusRing) -> Iterator[QWidget]:
    """The widgets that Tab visits until it is where it began; each has to show that it has the focus."""
    start = window._sidebar.findChildren(Button)[0]
    start.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(start, Qt.Key.Key_Tab)
    before = start.accessibleName()
    first = now = QApplication.focusWidget()
    for _ in range(400):
        assert now is not None, f"after {before}"
        yield now
        assert ring.isVisible() or shows_focus_itself(now), f"no focus is seen on {now.accessibleName()}"
        assert is_in_sight(now), f"{now.accessibleName()} has the focus out of sight"
        before = now.accessibleName()
        QTest.keyClick(now, Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        if now is first:
            return
    pytest.fail("Tab does not come around")


def shows_focus_itself(widget: QWidget) -> bool:
    """A text field has its frame in the accent and a cursor."""
    return widget.inherits("QLineEdit") or widget.inherits("QPlainTextEdit")


def is_in_sight(widget: QWidget) -> bool:
    """Some of it, if it is larger than the page that scrolls it."""
    return not widget.visibleRegion().isEmpty()


def is_of_a_group(widget: QWidget, groups: set[QWidget | None]) -> bool:
    """Radio buttons and pages of the sidebar are one stop: the arrows go from one to the next."""
    return bool(getattr(widget, "group", lambda: None)()) and widget.parentWidget() in groups


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_that_is_drawn_can_be_read(full: MainWindow, qapp: QApplication, tokens: Tokens) -> None:
    theme.apply(qapp, tokens)
    settle(full)
    try:
        poor = [
            f"{word}: {text!r} {ratio:.1f}"
            for word, page in every_page(full)
            for text, ratio in contrasts(page)
            if ratio < 4.5
        ]
    finally:
        theme.apply(qapp, LIGHT)
    assert poor == []


def contrasts(page: QWidget) -> Iterator[tuple[str, float]]:
    """Each label in sight with the contrast between its background and what differs most from that."""
    picture = QImage(page.size() * _MAGNIFIED, QImage.Format.Format_RGB32)
    picture.setDevicePixelRatio(_MAGNIFIED)
    window = page.window()
    window.render(picture, QPoint(), QRegion(QRect(page.mapTo(window, QPoint(0, 0)), page.size())))
    for label in page.findChildren(QLabel):
        if label.isVisible() and label.text() and label.isEnabled() and label.font().pixelSize() < LARGE_TEXT:
            place = QRect(label.mapTo(page, QPoint(0, 0)), label.size())
            if page.rect().contains(place):
                corner, size = place.topLeft() * _MAGNIFIED, place.size() * _MAGNIFIED
                yield label.text(), strongest(picture.copy(QRect(corner, size)))


def strongest(picture: QImage) -> float:
    """Between the colour that fills most and any other."""
    pixels = np.frombuffer(picture.constBits(), np.uint32)
    seen, often = np.unique(pixels, return_counts=True)
    background = QColor(int(seen[often.argmax()]))
    return max(contrast(background, QColor(int(pixel))) for pixel in seen)


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL], ids=["hung", "killed"])
def test_a_hung_or_killed_engine_shows_within_two_seconds_and_is_offered_a_restart(
    profile: Profile, how: signal.Signals, qtbot: QtBot, tmp_path: Path
) -> None:
    script = tmp_path / "script.json"
    script.write_text("{}")
    environment = {**os.environ, "IDLEHIVE_HOME": str(profile.path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.fakes.scripted_engine", str(script)]
    engine = subprocess.Popen(command, env=environment, cwd=ROOT)
    wait_for(profile.socket.exists, 10, "an engine")
    link = EngineLink(profile)
    window = MainWindow(link, Settings(profile))
    window.show()
    link.open()
    try:
        qtbot.waitUntil(lambda: link.state is Link.UP and link.snapshot is not None)
        began = time.monotonic()
        engine.send_signal(how)
        qtbot.waitUntil(lambda: link.state in {Link.SILENT, Link.GONE}, timeout=5000)
        assert time.monotonic() - began < 2.0
        for _word, page in every_page(window):
            notice = next(each for each in window.findChildren(Notice) if each.isVisible() and each.action.text())
            assert notice.action.text() == "Restart the engine"
            assert page.isVisible()
    finally:
        link.close()
        engine.kill()
        engine.wait()
        window.deleteLater()

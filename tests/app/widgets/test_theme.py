"""Both themes are whole, legible and put on without a restart."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from app.widgets import theme
from app.widgets.theme import DARK, LIGHT, Tokens
from app.window.main_window import MainWindow
from tests.app.contrast import contrast

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def light_again(qapp: QApplication) -> Iterator[None]:
    yield
    theme.apply(qapp, LIGHT)


@pytest.mark.parametrize("tokens", [DARK, LIGHT], ids=["dark", "light"])
def test_every_text_has_the_contrast_that_wcag_asks_for(tokens: Tokens) -> None:
    pairs = [
        (tokens.text, tokens.background),
        (tokens.text, tokens.card),
        (tokens.text, tokens.problem_card),
        (tokens.muted, tokens.card),
        (tokens.muted, tokens.sidebar),
        (tokens.muted, tokens.track),
        (tokens.accent_text, tokens.card),
        (tokens.on_accent, tokens.accent),
        (tokens.good, tokens.card),
        (tokens.problem, tokens.card),
    ]
    poor = [(one, other, round(contrast(one, other), 2)) for one, other in pairs if contrast(one, other) < 4.5]
    assert poor == []


@pytest.mark.parametrize("tokens", [DARK, LIGHT], ids=["dark", "light"])
def test_every_token_is_a_colour(tokens: Tokens) -> None:
    assert all(QColor(getattr(tokens, field.name)).isValid() for field in fields(tokens))


def test_the_desktop_s_scheme_is_followed_while_running(qapp: QApplication, window: MainWindow) -> None:
    theme.follow_system(qapp)
    hints = qapp.styleHints()
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.tokens() is DARK
    assert window.grab().toImage().pixelColor(210, 5).name() == DARK.background.lower()
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.tokens() is LIGHT
    assert window.grab().toImage().pixelColor(210, 5).name() == LIGHT.background.lower()


def test_text_grows_with_the_system_s_but_never_below_the_usual_size() -> None:
    assert theme.font(theme.Type.TEXT).pixelSize() >= 14


_SIZES = """
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication
from app.widgets import theme
from app.limits.entry import Entry
application = QApplication(["-style", "fusion"])
system = QFont(application.font())
system.setPixelSize(21)
application.setFont(system)
for tokens in (theme.LIGHT, theme.DARK):
    theme.apply(application, tokens)
entry = Entry(print, print)
entry.show()
application.processEvents()
print(theme.font(theme.Type.TEXT).pixelSize(), theme.font(theme.Type.HEADLINE).pixelSize(), entry.font().pixelSize())
"""


def test_a_large_system_font_enlarges_every_text_once_whatever_style_the_desktop_has() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _SIZES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.split() == ["21", "36", "21"]

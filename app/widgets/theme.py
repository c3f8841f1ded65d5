"""The theme: colours, spacing, type, and the style sheet made from them.

One accent (honey) means this volunteer, blue-greys mean everyone else, green only "contributing", red only a problem
that needs the volunteer.
"""

from dataclasses import dataclass, fields
from enum import Enum
from string import Template
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from app.widgets.style_sheet import STYLE_SHEET

UNIT = 4
GAP = 14
PAGE_MARGIN = 28
PAGE_MARGIN_NARROW = 16
CARD_PADDING = 18
SIDEBAR_WIDTH, NARROW_SIDEBAR_WIDTH = 200, 168
ROOMY_WINDOW = 860
"""Pixels below which the sidebar is narrow."""
BUTTON_HEIGHT = 38
RADIUS_CARD = 14
RADIUS_BUTTON = 9
RADIUS_CELL = 4
HEADER_PADDING = 11
"""Left and right of a table's headers: the padding of its cells by the style sheet, and what Qt adds to those alone."""

_SMALLEST_TEXT = 14
"""Smallest size of ordinary text in pixels; a larger system font scales everything."""
_scale = 1.0
_has_style = False
"""Whether style and font are set, which happens once."""

Scheme = Literal["system", "light", "dark"]
_chosen: Scheme = "system"


@dataclass(frozen=True)
class Tokens:
    """The colours of one theme, as #RRGGBB."""

    background: str
    sidebar: str
    card: str
    hover: str
    line: str
    track: str
    text: str
    muted: str
    accent: str
    accent_hover: str
    accent_text: str
    on_accent: str
    gentle: str
    """Hours of the schedule at the gentle level, between track and accent."""
    other_1: str
    other_2: str
    other_3: str
    good: str
    problem: str
    problem_card: str

    @property
    def others(self) -> tuple[QColor, QColor, QColor]:
        """Everyone else, in the three shades that keep neighbours apart."""
        return QColor(self.other_1), QColor(self.other_2), QColor(self.other_3)


DARK = Tokens(
    background="#14161A",
    sidebar="#101215",
    card="#1D2026",
    hover="#262A32",
    line="#2C3038",
    track="#2A2E36",
    text="#ECEEF2",
    muted="#9AA3B0",
    accent="#F2B544",
    accent_hover="#F7C465",
    accent_text="#F2B544",
    on_accent="#1A1405",
    gentle="#755F31",
    other_1="#5E7A8C",
    other_2="#4C6473",
    other_3="#3D515E",
    good="#3CC3A0",
    problem="#F0837A",
    problem_card="#2B1F20",
)

LIGHT = Tokens(
    background="#F5F4F0",
    sidebar="#ECEAE4",
    card="#FFFFFF",
    hover="#F3F1EB",
    line="#E6E3DB",
    track="#ECE9E1",
    text="#1B1D21",
    muted="#5F6875",
    accent="#E3A11A",
    accent_hover="#EDB03A",
    accent_text="#8A5B00",
    on_accent="#231900",
    gentle="#F0D08C",
    other_1="#7F9BAC",
    other_2="#9DB3C0",
    other_3="#B9C9D2",
    good="#0D8064",
    problem="#B3372D",
    problem_card="#FBEEEC",
)


class Type(Enum):
    """The type scale: pixels at the usual text size, weight."""

    FIGURE = 27, QFont.Weight.Bold
    RING = 34, QFont.Weight.Bold
    HEADLINE = 24, QFont.Weight.DemiBold
    NAME = 16, QFont.Weight.DemiBold
    STRONG = 14, QFont.Weight.DemiBold
    TEXT = 14, QFont.Weight.Normal
    LABEL = 13, QFont.Weight.DemiBold
    CAPTION = 13, QFont.Weight.Normal


def tokens() -> Tokens:
    """The current colours. Painters call it at every paint and so follow a change of theme."""
    return DARK if QGuiApplication.palette().color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT


def font(kind: Type) -> QFont:
    """The system's font in a size of the scale, with figures of equal width."""
    pixels, weight = kind.value
    result = QFont(QGuiApplication.font())
    result.setPixelSize(round(pixels * _scale))
    result.setWeight(weight)
    result.setFeature(QFont.Tag("tnum"), 1)
    return result


def scaled(pixels: int) -> int:
    """A length that grows with the texts."""
    return round(pixels * _scale)


def fixed_font() -> QFont:
    """The system's font with letters of equal width, at the size of captions."""
    result = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    result.setPixelSize(round(Type.CAPTION.value[0] * _scale))
    return result


def line_height(kind: Type) -> int:
    """Height of a line of text in pixels."""
    return QFontMetrics(font(kind)).height()


def follow_system(application: QApplication) -> None:
    """Use the theme of the desktop, now and whenever it changes, unless `choose_scheme` named another."""
    hints = application.styleHints()
    hints.colorSchemeChanged.connect(lambda scheme: apply(application, _tokens_for(scheme)))
    apply(application, _tokens_for(hints.colorScheme()))


def choose_scheme(application: QApplication, scheme: Scheme) -> None:
    """Use the chosen theme; `system` follows the desktop."""
    global _chosen
    _chosen = scheme
    apply(application, _tokens_for(application.styleHints().colorScheme()))


def apply(application: QApplication, wanted: Tokens) -> None:
    """Use a theme for the whole program."""
    global _scale, _has_style
    if not _has_style:
        _has_style = True
        application.setStyle("fusion")
        _scale = max(1.0, _system_text_size() / _SMALLEST_TEXT)
        application.setFont(font(Type.TEXT))
    application.setPalette(_palette(wanted))
    application.setStyleSheet(_style_sheet(wanted))


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget a role of the style sheet, such as `muted` or `primary`, at any time."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def _tokens_for(desktop: Qt.ColorScheme) -> Tokens:
    dark = desktop is Qt.ColorScheme.Dark if _chosen == "system" else _chosen == "dark"
    return DARK if dark else LIGHT


def _system_text_size() -> float:
    system = QGuiApplication.font()
    return system.pixelSize() if system.pixelSize() > 0 else system.pointSizeF() * 96 / 72


def _palette(wanted: Tokens) -> QPalette:
    role = QPalette.ColorRole
    colours = {
        role.Window: wanted.background,
        role.Base: wanted.card,
        role.AlternateBase: wanted.track,
        role.Button: wanted.card,
        role.WindowText: wanted.text,
        role.Text: wanted.text,
        role.ButtonText: wanted.text,
        role.ToolTipBase: wanted.card,
        role.ToolTipText: wanted.text,
        role.PlaceholderText: wanted.muted,
        role.Highlight: wanted.accent,
        role.HighlightedText: wanted.on_accent,
        role.Link: wanted.accent_text,
        role.Mid: wanted.line,
    }
    palette = QPalette()
    for which, colour in colours.items():
        palette.setColor(which, QColor(colour))
    return palette


def _style_sheet(wanted: Tokens) -> str:
    values = {field.name: getattr(wanted, field.name) for field in fields(wanted)}
    sizes = {
        "radius_card": RADIUS_CARD,
        "radius_button": RADIUS_BUTTON,
        "radius_cell": RADIUS_CELL,
        "button_height": BUTTON_HEIGHT,
        "header_padding": HEADER_PADDING,
    }
    return Template(STYLE_SHEET).substitute(values | sizes)

"""Names as they were given: Qt looks for a letter's shortcut in menus and buttons, and for HTML in tool tips."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics


def shortened(name: str, metrics: QFontMetrics, widest: int) -> str:
    """At most `widest` pixels; the end stays, which tells equal names apart."""
    return metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, widest)


def in_menu(text: str) -> str:
    """Also for buttons: the text is shown as it is."""
    return text.replace("&", "&&")


def in_tip(text: str) -> str:
    """Where Qt finds a tag it would show the text as HTML, and a manifest's name could load pictures."""
    return text.replace("<", "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}")

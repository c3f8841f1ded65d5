"""Contrast of two colours by WCAG 2.2: from 1 (the same) to 21 (black on white)."""

from PySide6.QtGui import QColor


def contrast(one: QColor | str, other: QColor | str) -> float:
    """Of colours, or their names as #RRGGBB."""
    lighter, darker = sorted((_luminance(QColor(one)), _luminance(QColor(other))), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: QColor) -> float:
    red, green, blue = (_linear(part) for part in (colour.redF(), colour.greenF(), colour.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return float(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)

"""Shades of the accent for amounts: four steps, and the track colour for nothing."""

from PySide6.QtGui import QColor

from app.widgets import theme

STEPS = 4
_STRENGTHS = (0.30, 0.52, 0.76, 1.0)


def step(value: float, most: float) -> int:
    """0 for nothing, 1 to `STEPS` for a share of the most."""
    if value <= 0 or most <= 0:
        return 0
    return min(STEPS, 1 + int(value / most * STEPS))


def shade(number: int, tokens: theme.Tokens | None = None) -> QColor:
    """The colour of a step on a card, in the current theme or in `tokens`."""
    now = tokens or theme.tokens()
    if number == 0:
        return QColor(now.track)
    card, accent, strength = QColor(now.card), QColor(now.accent), _STRENGTHS[number - 1]
    mixed = (
        round(low + (high - low) * strength)
        for low, high in zip(card.getRgb()[:3], accent.getRgb()[:3], strict=True)  # type: ignore[index]
    )
    return QColor(*mixed)

"""Messages of the engine in sentences: the only place that words a kind and its parameters."""

from string import Formatter
from typing import Any

from app.text import numbers
from app.text.i18n import tr
from core.api.message import Message


def sentence(message: Message) -> str:
    """The message in the language in use; a kind without words is shown as it is."""
    template = _wordings().get(message.kind)
    return _FILL.vformat(template, (), message.params) if template else str(message)


class _Fill(Formatter):
    """Templates name how a parameter is written: `{free:size}`, `{wait:duration}`, `{ceiling:rate}`."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if write := _WRITERS.get(format_spec):
            return write(value)
        if isinstance(value, list):
            return ", ".join(value)
        return str(super().format_field(value, format_spec))


_FILL = _Fill()
_WRITERS = {
    "size": numbers.size,
    "rate": numbers.rate,
    "duration": numbers.duration,
    "count": numbers.count,
    "percent": numbers.percent,
}


def _wordings() -> dict[str, str]:
    """By kind."""
    return {
        "disk_full": tr("The disk is full. Free some space for {path}."),
    }

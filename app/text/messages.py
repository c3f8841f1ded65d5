"""Messages of the engine in sentences: the only place that words a kind and its parameters.

The tables are in `app.text.wordings`, one an area; each names how its parameters are written: `{free:size}`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from string import Formatter
from typing import Any

from app.text.formats import amounts, numbers
from app.text.i18n import translate
from app.text.wordings import WORDINGS
from core.api.message import Message, Param


def sentence(message: Message) -> str:
    """The message in the language in use; a kind without words is shown as it is."""
    template = WORDINGS.get(message.kind)
    return fill(template, message.params) if template else str(message)


def fill(template: str, params: Mapping[str, Param]) -> str:
    """The translated template with its parameters, each written as the template says."""
    return _FILL.vformat(translate(template), (), params)


class _Fill(Formatter):
    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Param]) -> Param:  # noqa: ARG002
        """An engine of another version may leave a parameter out, and a kind alone has none."""
        return kwargs.get(str(key), "…")

    def format_field(self, value: Param, format_spec: str) -> str:
        if isinstance(value, Message):
            return sentence(value)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return ", ".join(self.format_field(each, format_spec) for each in value)
        if isinstance(value, int | float) and (write := WRITERS.get(format_spec)):
            return write(value)
        return str(value)


_FILL = _Fill()
WRITERS: Mapping[str, Callable[[float], str]] = {
    "size": numbers.size,
    "rate": numbers.rate,
    "duration": numbers.duration,
    "count": numbers.count,
    "samples": lambda number: amounts.samples(round(number)),
    "figure": numbers.figure,
    "percent": numbers.percent,
    "loss": partial(numbers.decimal, places=2),
}
"""How a parameter is written, in numbers and units of the language."""

"""Reads what a project's model can do by now from its backbone, which nobody has to trust."""

import logging

import msgspec

from core.api.errors import UsageError
from core.api.project.demonstration import LARGEST, Demonstration, Span
from core.engine.projects import fetch, pictures
from core.system.reach import Reach

_MOST_LETTERS = 1000
"""Of all texts together."""
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""Several scripts are written with them."""
_DECODER = msgspec.json.Decoder(Demonstration | None)
_log = logging.getLogger(__name__)


async def read(url: str, reach: Reach) -> Demonstration | None:
    """None if there is none, or it cannot be read or shown."""
    found = await fetch.document(url, LARGEST, reach, _DECODER)
    try:
        return None if found is None else checked(found)
    except UsageError as error:
        _log.info("What the model at %s has learned cannot be shown: %s", url, error)
        return None


def checked(found: Demonstration) -> Demonstration:
    """Plain text of one paragraph, and a PNG.

    Raises:
        UsageError: the picture is something else.
    """
    if found.picture is not None and pictures.picture_of(found.picture).format != "png":
        raise UsageError("picture_format_unknown")
    spans, left = list[Span](), _MOST_LETTERS
    for span in found.spans:
        text, right = _plain(span.text, left), None if span.right is None else _plain(span.right, left)
        left -= len(text) + len(right or "")
        spans.append(Span(text, span.is_made, right))
    return msgspec.structs.replace(found, spans=tuple(span for span in spans if span.text))


def _plain(text: str, most: int) -> str:
    """At most so many letters; every space is a plain one, and nothing else is invisible."""
    return "".join(" " if letter.isspace() else _shown(letter) for letter in text[: max(0, most)])


def _shown(letter: str) -> str:
    return letter if letter.isprintable() or letter in _JOINERS else "\N{REPLACEMENT CHARACTER}"

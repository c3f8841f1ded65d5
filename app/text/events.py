"""What has happened, in sentences: "21:07  Birdsong  The processor is busy: waiting". Pure."""

from collections.abc import Sequence

from app.text import messages, reasons
from app.text.formats import times
from app.text.formats.sentences import closed
from app.text.i18n import tr
from app.text.wordings.reasons import REASONS
from core.api.reasons import Reason
from core.api.record.events import PastEvent


def sentence(event: PastEvent) -> str:
    message = event.message
    if message.kind in REASONS:
        return closed(reasons.headline(Reason(message.kind, False, message.params)))
    text = messages.sentence(message)
    return tr("The session failed: {error}", error=text) if event.kind == "session_failed" else text


def lines(events: Sequence[PastEvent], now: float) -> list[str]:
    """A line for each, with its time and its project."""
    return ["  ".join(filter(None, [times.moment(each.at, now), each.name, sentence(each)])) for each in events]

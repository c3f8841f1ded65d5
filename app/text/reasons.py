"""Why nothing is contributed, and until when, for window and command line.

Of a reason: a headline, a sentence, its detail, and its end ("until 14:30"). Of a snapshot: which one is named first.
"""

from app.text import messages
from app.text.formats import numbers, times
from app.text.formats.sentences import open_end
from app.text.i18n import tr, translate
from app.text.wordings.reasons import REASONS
from core.api.preferences import remedies
from core.api.reasons import Kind, Reason, Severity
from core.api.snapshot import Snapshot

_URGENCY = (Severity.PROBLEM, Severity.NOTICE, Severity.QUIET)


def sentence(reason: Reason) -> str:
    """In full, without its end."""
    known = REASONS.get(reason.kind)
    return messages.fill(known.sentence, reason.params) if known else reason.kind


def headline(reason: Reason) -> str:
    """Without its end and without a full stop."""
    known = REASONS.get(reason.kind)
    return translate(known.headline) if known and known.headline else open_end(sentence(reason))


def detail(reason: Reason) -> str:
    """What the sentence adds to the headline; empty if nothing."""
    known = REASONS.get(reason.kind)
    return sentence(reason) if known and known.headline and not known.says_all else ""


def is_paused(snapshot: Snapshot) -> bool:
    """The volunteer has paused, with or without an end."""
    return any(reason.kind in {Kind.PAUSED, Kind.SNOOZED} for reason in snapshot.reasons)


def main_reason(snapshot: Snapshot) -> Reason | None:
    """The reason to name first: the volunteer's own pause, then the most urgent."""
    own = (reason for reason in snapshot.reasons if reason.kind in {Kind.PAUSED, Kind.SNOOZED})
    by_urgency = sorted(snapshot.reasons, key=lambda reason: _URGENCY.index(reason.severity))
    return next(own, None) or next(iter(by_urgency), None)


def other_reasons(snapshot: Snapshot) -> tuple[Reason, ...]:
    """All but the one that the status names; a failed session already shows its error and retry."""
    named = main_reason(snapshot) if snapshot.state in {"idle", "holding"} else None
    shown = {Kind.NO_PROJECT} | ({Kind.BACKING_OFF, Kind.GAVE_UP} if snapshot.state == "failed" else set())
    return tuple(reason for reason in snapshot.reasons if reason is not named and reason.kind not in shown)


def remedy(snapshot: Snapshot) -> str | None:
    """The preference that prevents contributing; None if it is none."""
    if snapshot.state == "contributing" or is_paused(snapshot):
        return None
    if any(reason.kind == "in_use" for reason in snapshot.reasons):
        return "idle_gpu" if snapshot.settings.gpu else "idle_processor"
    first = main_reason(snapshot)
    causes = (each for each in (first, *snapshot.reasons, snapshot.error) if each)
    return next((name for cause in causes if (name := remedies.remedy(cause))), None)


def headline_with_end(reason: Reason, now: float) -> str:
    """The reason that is named first, with its end."""
    if reason.kind in {Kind.PAUSED, Kind.SNOOZED, Kind.BACKING_OFF}:
        return sentence_with_end(reason, now)
    return _until(headline(reason), reason.until, now)


def sentence_with_end(reason: Reason, now: float) -> str:
    """A reason with its end, without a full stop."""
    text = open_end(sentence(reason))
    match reason.kind:
        case Kind.PAUSED | Kind.SNOOZED:
            if reason.until is None:
                return tr("Paused until you resume")
            return tr("Paused until {time}", time=times.clock(reason.until, now))
        case Kind.BACKING_OFF if reason.until:
            return tr("{text} (in {time})", text=text, time=numbers.duration(reason.until - now))
        case _:
            return _until(text, reason.until, now)


def main_detail(snapshot: Snapshot) -> str:
    """What the headline leaves out; empty if that is nothing."""
    reason = main_reason(snapshot)
    return detail(reason) if reason and snapshot.state in {"idle", "holding"} else ""


def _until(text: str, until: float | None, now: float) -> str:
    if until is None:
        return text
    return tr("{text}, until {time}", text=text, time=times.clock(until, now))

"""The reasons why nothing is contributed, for window and command line: a headline, a sentence, and its detail."""

from app.text import messages
from app.text.formats.sentences import open_end
from app.text.i18n import translate
from app.text.wordings.reasons import REASONS
from core.api.reasons import Reason


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

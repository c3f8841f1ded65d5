"""Sentences that are cut out or put together end as their language has it: with . or 。 or ।"""

from app.text.i18n import tr

_FULL_STOPS = " .。।"


def open_end(sentence: str) -> str:
    """Without its full stop, so that more can follow."""
    return sentence.rstrip(_FULL_STOPS)


def closed(text: str) -> str:
    """With one full stop."""
    return open_end(text) + tr(".")

"""How long until what failed is tried again: longer with each failure in a row."""

FIRST_WAIT = 5.0
"""Seconds after the first failure; doubles with each, up to LONGEST_WAIT."""
LONGEST_WAIT = 600.0
FORGIVEN_AFTER = 300.0
"""Seconds of going well after which earlier failures are forgotten."""


def backoff(failures: int) -> float:
    """Seconds, after so many in a row."""
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 30))

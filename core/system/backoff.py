"""Exponential backoff: how long to wait before a retry."""

FIRST_WAIT = 5.0
"""Seconds after the first failure; each further failure doubles them, up to LONGEST_WAIT."""
LONGEST_WAIT = 600.0
FORGIVEN_AFTER = 300.0
"""Seconds of success after which earlier failures are forgotten."""


def backoff(failures: int) -> float:
    """Seconds to wait after this many failures in a row."""
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 30))

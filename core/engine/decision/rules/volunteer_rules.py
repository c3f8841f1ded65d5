"""Reasons from the volunteer's pause and schedule. Pure."""

from collections.abc import Iterator

from core.api.preferences.schedule import Level
from core.api.reasons import Kind, Reason
from core.engine.decision.facts import Facts


def reasons(facts: Facts) -> Iterator[Reason]:
    intent = facts.intent
    if intent.paused:
        yield Reason(Kind.PAUSED, hold=True)
    if intent.snoozed_until is not None and facts.now < intent.snoozed_until:
        yield Reason(Kind.SNOOZED, hold=True, until=intent.snoozed_until)
    if intent.wanted and not intent.override and facts.week.level is Level.OFF:
        # Hours that are off free the memory too: other programs may need it.
        yield Reason(Kind.OUTSIDE_SCHEDULE, hold=False, until=facts.week.next_at)

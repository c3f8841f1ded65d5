"""Reasons from sleep, the project and earlier failures. Pure."""

from collections.abc import Iterator

from core.api.reasons import Kind, Reason, Severity
from core.engine.decision.facts import Facts


def reasons(facts: Facts) -> Iterator[Reason]:
    conditions = facts.conditions
    if facts.intent.wanted and conditions.near_sleep:
        yield Reason(Kind.GOING_TO_SLEEP, hold=False)
    if facts.intent.wanted and conditions.slept:
        yield Reason(Kind.WOKEN, hold=False)
    if facts.membership is None:
        yield Reason(Kind.NO_PROJECT, hold=False, severity=Severity.NOTICE)
    failure = conditions.failure
    if failure is not None and failure.permanent:
        yield Reason(Kind.GAVE_UP, hold=False, params={"failure": failure.error}, severity=Severity.PROBLEM)
    elif failure is not None and not failure.is_over(facts.now):
        params = {"failure": failure.error}
        yield Reason(Kind.BACKING_OFF, hold=False, params=params, until=failure.retry_at, severity=Severity.NOTICE)

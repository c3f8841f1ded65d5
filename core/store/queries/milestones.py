"""Round numbers: those reached, and the next ones. Pure."""

from collections.abc import Mapping, Sequence

from core.api.record.record import Milestone, MilestoneKind

_FIRST: Mapping[MilestoneKind, float] = {"seconds": 3600.0, "samples": 1000.0, "epochs": 1.0}
_PACE_DAYS = 30
_LEAST_DAYS = 3
"""Days with a contribution from which on a pace says something."""
_FARTHEST = 10
"""Times as far away as the record is long: a date beyond would be a guess."""

Day = tuple[int, float, float, float]
"""Number of the day, and its increase of each kind in the order of `_FIRST`."""


def milestones(days: Sequence[Day], today: int) -> list[tuple[Milestone, int | None]]:
    """Each with the day on which it was or will be reached; None if that cannot be said. `days` are in order."""
    reached: list[tuple[Milestone, int | None]] = []
    coming: list[tuple[Milestone, int | None]] = []
    span = today - days[0][0] + 1 if len(days) >= _LEAST_DAYS else 0
    for place, (kind, first) in enumerate(_FIRST.items(), 1):
        amount, total, given = first, 0.0, 0.0
        for day in days:
            total += day[place]
            given += day[place] if today - _PACE_DAYS < day[0] <= today else 0.0
            while total >= amount:
                reached.append((Milestone(kind, amount, None, reached=True), day[0]))
                amount *= 10
        pace = given / max(1, min(_PACE_DAYS, span))
        if total:
            left = round((amount - total) / pace) if pace else None
            due = today + left if left is not None and left <= span * _FARTHEST else None
            coming.append((Milestone(kind, amount, None, reached=False), due))
    reached.sort(key=lambda found: found[1] or 0)
    return reached + coming

"""A record as the engine tells it."""

from datetime import datetime

from PySide6.QtCore import Qt

from core.api.message import Message
from core.api.record.record import (
    Bar,
    Cost,
    Habits,
    Milestone,
    Overview,
    ProjectGiven,
    SessionGiven,
    Sums,
)

LEFT = Qt.MouseButton.LeftButton
DAY = 86_400.0
SINCE, UNTIL = (datetime(2026, 3, day).timestamp() for day in (1, 31))  # noqa: DTZ001 - local, as the page's
SUMS = Sums(
    seconds=36_000.0, samples=1000, accepted=900, rounds=70, failed_rounds=2, flops=8e15, joules=1.8e6,
    estimated_joules=1.8e6, uploaded=5_000_000, downloaded=7_000_000,
)  # fmt: skip
OVERVIEW = Overview(
    since=SINCE,
    until=UNTIL,
    first=SINCE - 400 * DAY,
    sums=SUMS,
    sessions=2,
    cost=Cost(0.31, "EUR", 400.0),
    projects=(ProjectGiven("b", "Bees", 30_000.0, 800, "run", "ab" * 32), ProjectGiven("m", "Moths", 6000.0, 100)),
    bucket="day",
    bars=(Bar(SINCE, 0, 30_000.0, 800), Bar(SINCE, 1, 6000.0, 100)),
    year=2026,
    years=(2025, 2026),
    calendar=(0.0,) * 59 + (36_000.0,) + (0.0,) * 305,
    milestones=(
        Milestone("seconds", 3600.0, SINCE, reached=True),
        Milestone("samples", 1000.0, SINCE + 10 * DAY, reached=False),
    ),
)
NIGHTS = Habits(tuple(3600.0 if hour % 24 < 6 else 0.0 for hour in range(168)), {"in_use": 7200.0}, {"paused": 2})


def session(number: int, started_at: float, ending: str | None = "paused") -> SessionGiven:
    why = Message(ending) if ending else None
    return SessionGiven(number, "b", "Bees", "run", started_at, None, why, imported=False, sums=SUMS)

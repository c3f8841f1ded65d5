"""A year of giving, made up: what the history page shows of it."""

import math
import time

from core.api.message import Message
from core.api.record.record import Bar, Cost, Habits, Milestone, Overview, ProjectGiven, SessionGiven, Sums
from tests.app.snapshots import CONTRIBUTING

HOUR, DAY = 3600.0, 86_400.0
_DAYS = 365
_NAMES = ("birds", "Birdsong"), ("practice", "Practice")


def overview() -> Overview:
    """The last 365 days, until now."""
    now = time.time()
    year = time.localtime(now).tm_year
    today = time.localtime(now).tm_yday
    given = [_seconds(day) for day in range(_DAYS)]
    bars = [
        Bar(now - (_DAYS - week * 7) * DAY, project, sum(given[week * 7 : week * 7 + 7]) * part, 5000)
        for week in range(_DAYS // 7)
        for project, part in enumerate((0.8, 0.2))
    ]
    seconds = sum(given)
    return Overview(
        since=now - _DAYS * DAY,
        until=now,
        first=now - 400 * DAY,
        sums=sums(seconds),
        sessions=214,
        cost=Cost(41.2, "EUR", 55_000.0),
        projects=tuple(
            ProjectGiven(name, title, seconds * part, round(seconds * part * 40))
            for (name, title), part in zip(_NAMES, (0.8, 0.2), strict=True)
        ),
        bucket="week",
        bars=tuple(bars),
        year=year,
        years=(year - 1, year),
        calendar=tuple(given[day] if day < today else 0.0 for day in range(_DAYS)),
        milestones=(
            Milestone("epochs", 1.0, now - 399 * DAY, reached=True),
            Milestone("seconds", 1000 * HOUR, now - 60 * DAY, reached=True),
            Milestone("samples", 1e8, now + 6 * DAY, reached=False),
        ),
    )


def habits() -> Habits:
    """Nights and Sundays."""
    week = (HOUR * 30 * (hour % 24 < 7 or hour % 24 > 21 or hour > 150) for hour in range(168))
    return Habits(
        tuple(float(seconds) for seconds in week),
        {"in_use": 900 * HOUR, "outside_schedule": 2400 * HOUR, "gpu_taken": 80 * HOUR, "on_battery": 12 * HOUR},
        {"outside_schedule": 150, "paused": 60, "in_use": 4},
    )


def sessions() -> list[SessionGiven]:
    """The latest ones; the first of them runs."""
    now, (name, title) = time.time(), _NAMES[0]
    running = SessionGiven(9, name, title, "run", now - 2 * HOUR, None, None, imported=False, sums=sums(2 * HOUR))
    over = [
        SessionGiven(
            8 - day, name, title, "run", now - (day + 1) * DAY, now - (day + 1) * DAY + 8 * HOUR, Message(ending),
            imported=False, sums=sums(8 * HOUR),
        )
        for day, ending in enumerate(("outside_schedule", "paused", "in_use", "outside_schedule"))
    ]  # fmt: skip
    return [running, *over]


def sums(seconds: float) -> Sums:
    """What such a time gives on a small graphics card."""
    speed = CONTRIBUTING.progress.samples_per_second
    return Sums(
        seconds=seconds, samples=round(seconds * speed), accepted=round(seconds * speed * 0.98),
        rounds=round(seconds / 40), failed_rounds=round(seconds / 4000), epochs=round(seconds / 40),
        cpu_seconds=seconds * 0.6, gpu_seconds=seconds * 0.8, joules=seconds * 110.0, flops=seconds * 4e12,
        uploaded=round(seconds * 60_000), downloaded=round(seconds * 75_000), peers_met=13,
    )  # fmt: skip


def _seconds(day: int) -> float:
    """More in winter and on some weekdays, nothing on one day in eleven."""
    season = 1 + math.cos(day / _DAYS * 2 * math.pi)
    return 0.0 if day % 11 == 3 else HOUR * (1 + 3 * season + (day % 7 > 4) * 4)

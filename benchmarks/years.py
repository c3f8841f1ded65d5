"""A record of years, hour by hour, made up: for measuring and for pictures. The same numbers every time."""

import math
import random
from datetime import UTC, datetime
from pathlib import Path

from core.api.record.totals import GIVEN
from core.store.store import Store

HOUR = 3600
PROJECTS = (("sahajbert", 0.5), ("shakespeare", 0.3), ("birdsong", 0.15), ("proteins", 0.04), ("maps", 0.01))
_ENDINGS = ("paused", "in_use", "outside_schedule", "done", "on_battery", "no_peers")
_IDLE = ("in_use", "outside_schedule", "full_screen", "on_battery", "syncing")


def fill(path: Path, years: float, now: float, seed: int = 1, always: bool = True) -> int:
    """Write hours up to `now` into a record; `always` leaves out none. Returns how many hours."""
    chance = random.Random(seed)
    store = Store(path)
    first = int((now - years * 365 * 24 * HOUR) // HOUR * HOUR)
    sessions, idle = [], []
    hours: dict[int, tuple[float | None, ...]] = {}
    number, project = 0, PROJECTS[0][0]
    for hour in range(first, int(now // HOUR * HOUR), HOUR):
        if not number or chance.random() < 0.12:
            number += 1
            project = chance.choices([name for name, _ in PROJECTS], [share for _, share in PROJECTS])[0]
            sessions.append((number, project, "run-1", hour + 1.5, hour + 8.0 * HOUR, chance.choice(_ENDINGS)))
        there = datetime.fromtimestamp(hour, UTC)
        night = 1.0 if there.hour < 7 or there.hour >= 21 else 0.35
        season = 0.6 + 0.4 * math.cos((there.timetuple().tm_yday - 20) / 365 * 2 * math.pi)
        seconds = HOUR * min(1.0, max(0.02 if always else 0.0, night * season * chance.uniform(0.1, 1.3) - 0.1))
        if seconds > 0:
            hours[hour] = (number, hour, *_given(seconds, chance))
        idle.append(("", hour, chance.choices(_IDLE, (5, 4, 1, 1, 0.3))[0], HOUR - seconds))
    with store.database.transaction() as connection:
        connection.executemany(
            "INSERT INTO session (id, project, run_id, started_at, ended_at, ending) VALUES (?, ?, ?, ?, ?, ?)",
            sessions,
        )
        names, places = ", ".join(GIVEN), ", ".join("?" for _ in GIVEN)
        connection.executemany(
            f"INSERT INTO contribution (session, hour, {names}) VALUES (?, ?, {places})",  # noqa: S608
            hours.values(),
        )
        store.days.refresh(connection, hours)
        connection.executemany("INSERT INTO idle VALUES (?, ?, ?, ?)", idle)
        for name, _ in PROJECTS:
            connection.execute("INSERT INTO project VALUES (?, ?, NULL, ?)", (name, f"https://{name}.example", first))
    store.close()
    return len(hours)


def _given(seconds: float, chance: random.Random) -> tuple[float | None, ...]:
    samples = int(seconds * chance.uniform(1.8, 2.4))
    values: dict[str, float | None] = {
        "seconds": seconds, "samples": samples, "rounds": int(seconds // 60), "failed_rounds": chance.random() < 0.05,
        "epochs": int(seconds // 55), "cpu_seconds": seconds * 1.7, "gpu_seconds": 0.8 * seconds,
        "joules": seconds * 74.0, "uploaded": int(seconds * 21_000), "downloaded": int(seconds * 26_000),
        "accepted": int(samples * 0.97), "flops": samples * 4.2e11, "processor_joules": None,
        "estimated_joules": seconds * 11.0, "peers_met": chance.randrange(3),
        "averaging_up": int(seconds * 18_000), "averaging_down": int(seconds * 18_000), "state_up": 0,
        "state_down": int(seconds * 6000), "dht_up": int(seconds * 3000), "dht_down": int(seconds * 2000),
        "data_up": 0, "data_down": 0,
    }  # fmt: skip
    return tuple(values[name] for name in GIVEN)

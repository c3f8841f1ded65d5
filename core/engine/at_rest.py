"""`python -m core.engine.at_rest`: the snapshot of a profile whose engine does not run, as JSON.

It only reads: today's contributions, the intent as the next engine will have it, and the level of the schedule.
"""

import contextlib
import sys
import time

import msgspec

from core.api.preferences.schedule import ScheduleState
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from core.engine.machine.weekly_schedule import WeeklySchedule
from core.engine.stored_intent import StoredIntent
from core.store.database import Database
from core.store.days import Days
from core.store.history import History
from core.store.journal import Journal
from core.store.preferences import StoredPreferences


def snapshot(profile: Profile, now: float) -> Snapshot:
    """Raises StoreError: the record cannot be read."""
    with contextlib.closing(Database(profile.database, to_read=True)) as database:
        journal = Journal(database, Days(database))
        preferences = StoredPreferences(database).load()
        intent = StoredIntent(journal, resume=preferences["resume_at_start"]).value.at(now)
        schedule = WeeklySchedule(preferences["week"])
        week = schedule.outlook(now)
        state = ScheduleState(
            *(week.level, week.next_level, week.next_at, intent.override, intent.override_until),
            zone=schedule.zone_name(now),
        )
        today = History(database, journal).today(now)
        return Snapshot("idle", pinned=intent.project, wanted=intent.wanted, schedule=state, today=today)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(snapshot(Profile.from_environment(), time.time())) + b"\n")

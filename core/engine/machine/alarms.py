"""Requests updates: at the next moment that matters, and each minute.

A late or lost request is harmless, so sleep, clock changes and daylight saving need no care here: after the computer's
sleep the next request comes with the next heartbeat at the latest.
"""

from collections.abc import Callable
from datetime import UTC, datetime

HEARTBEAT = 60.0
"""Seconds."""
_FURTHEST = 366 * 86_400.0


class Alarms:
    def __init__(self, request_update: Callable[[], None], clock: Callable[[], float]) -> None:
        """Needs a running event loop, in which `request_update` is called."""
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        self._clock = clock
        self._request_update = request_update
        self._moment: float | None = None
        self._scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 2}
        )
        self._scheduler.add_job(self._beat, "interval", seconds=HEARTBEAT, id="heartbeat")
        self._scheduler.start()

    def set_first(self, *moments: float | None) -> None:
        """Request an update at the first of these moments (UTC seconds), or before."""
        moment = min((moment for moment in moments if moment is not None), default=None)
        # An earlier alarm stays, and sets the next one: cheaper than to move it with every report.
        if moment is None or moment >= self._clock() + _FURTHEST or (self._moment or moment + 1) <= moment:
            return
        self._moment = moment
        when = datetime.fromtimestamp(moment, UTC)
        self._scheduler.add_job(self._ring, "date", run_date=when, id="moment", replace_existing=True)

    def close(self) -> None:
        self._scheduler.shutdown(wait=False)

    async def _beat(self) -> None:
        self._request_update()

    async def _ring(self) -> None:
        # First: after an alarm that came a little early, the same moment must be set again.
        self._moment = None
        self._request_update()

"""The volunteer's week, in the zone that the computer is in now."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfoNotFoundError

from core.api.preferences.schedule import Outlook, outlook

_ZONE_HOLDS = 30.0
"""Seconds until the zone is read again: a traveller's laptop changes it while the program runs."""

_log = logging.getLogger(__name__)


def local_zone() -> tzinfo:
    """The computer's present zone; if its settings name none, the present offset from UTC."""
    import tzlocal

    if hasattr(time, "tzset"):
        time.tzset()
    try:
        return tzlocal.reload_localzone()
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        _log.warning("The computer's time zone is not known, its present offset is used: %s", error)
        return datetime.now().astimezone().tzinfo or UTC


class WeeklySchedule:
    """`read_zone` is called now and then."""

    def __init__(self, cells: str, read_zone: Callable[[], tzinfo] = local_zone) -> None:
        self.cells = cells
        self._read_zone = read_zone
        self._zone: tzinfo = UTC
        self._zone_read_at = float("-inf")
        self._outlook = Outlook()
        self._computed_at = float("inf")

    def change(self, cells: str) -> None:
        self.cells = cells
        self._computed_at = float("inf")

    def outlook(self, now: float) -> Outlook:
        """The week's level at `now`, cached until it changes: reports come often, changes seldom."""
        zone = self._zone_at(now)
        if zone is not self._zone or not self._still_holds(now):
            self._zone, self._computed_at = zone, now
            self._outlook = outlook(self.cells, now, zone)
        return self._outlook

    def zone(self, now: float) -> tzinfo:
        self.outlook(now)
        return self._zone

    def zone_name(self, now: float) -> str:
        zone = self._zone_at(now)
        return getattr(zone, "key", None) or str(zone)

    def _still_holds(self, now: float) -> bool:
        until = self._outlook.next_at
        return self._computed_at <= now and (until is None or now < until)

    def _zone_at(self, now: float) -> tzinfo:
        if not self._zone_read_at <= now < self._zone_read_at + _ZONE_HOLDS:
            self._zone_read_at = now
            zone = self._read_zone()
            # The same zone stays the same object, so that caches keyed by it stay valid.
            return self._zone if zone == self._zone else zone
        return self._zone

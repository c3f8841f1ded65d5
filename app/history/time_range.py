"""The period that the history page shows. Pure; days are local."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from app.text.formats import times
from app.text.i18n import tr

Kind = Literal["month", "year", "all", "own"]


@dataclass(frozen=True)
class TimeRange:
    """`since` and `until` are UTC seconds and set for `own` alone; the others follow the present day."""

    kind: Kind
    since: float | None = None
    until: float | None = None

    def bounds(self, now: float) -> tuple[float | None, float | None]:
        """The local midnights of its start and end; None for the start or end of the record."""
        tomorrow = datetime.fromtimestamp(now).astimezone().date() + timedelta(days=1)
        match self.kind:
            case "month":
                return midnight(tomorrow - timedelta(days=30)), midnight(tomorrow)
            case "year":
                return midnight(tomorrow - timedelta(days=365)), midnight(tomorrow)
            case "all":
                return None, None
            case "own":
                return self.since, self.until

    def title(self) -> str:
        match self.kind:
            case "month":
                return tr("Last 30 days")
            case "year":
                return tr("Last 365 days")
            case "all":
                return tr("Since the beginning")
            case "own":
                return times.span(self.since or 0.0, self.until or 0.0)


def one_day(day: date) -> TimeRange:
    return TimeRange("own", midnight(day), midnight(day + timedelta(days=1)))


def midnight(day: date) -> float:
    """UTC seconds at which a local day begins."""
    return datetime(day.year, day.month, day.day).timestamp()  # noqa: DTZ001 - local on purpose

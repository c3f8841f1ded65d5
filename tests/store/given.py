"""What the tests of the record write down."""

from datetime import UTC, datetime

from core.api.session import Counters

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC).timestamp()


def counters(samples: int, joules: float | None = None) -> Counters:
    return Counters(
        samples=samples, rounds=samples // 10, seconds=samples / 2, cpu_seconds=1.5 * samples, joules=joules
    )

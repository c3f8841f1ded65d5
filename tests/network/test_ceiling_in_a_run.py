"""The ceiling of a volunteer in a real run, with a backbone and another volunteer, at the network interface."""

import itertools
import time
from collections.abc import Iterator

import pytest

from tests.network.interface_log import carried, worst_window
from tests.network.measured_run import MeasuredRun, Seen, Volunteer, measured_run
from tests.network.namespaces import why_not

CEILING = 100_000
SECONDS = 60.0
MOST = 1.03
"""Of the ceiling, in any ten seconds."""
EDGE = 10.0
"""Seconds at both ends of it in which the window is compared with the interface at a quiet moment."""
COUNTED_WITHIN = 0.03
"""Of what the interface carried."""

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]


@pytest.fixture(scope="module")
def run() -> Iterator[tuple[MeasuredRun, float, float]]:
    with measured_run([{"upload_limit": CEILING}, {}]) as measured:
        begin = time.monotonic()
        time.sleep(SECONDS)  # the time that is measured
        yield measured, begin, time.monotonic()


def test_a_volunteers_ceiling_holds_in_every_phase_of_a_run(run: tuple[MeasuredRun, float, float]) -> None:
    measured, begin, end = run
    limited = measured.volunteers[0]
    for phase, (seconds, wire, counted) in by_phase(limited, begin, end).items():
        print(f"{phase}: {seconds:.1f} s, {wire / seconds:.0f} B/s up, {counted / seconds:.0f} in the window")
    worst = worst_window(limited.interface.around(begin, end), "up") / CEILING
    print(f"{worst:.3f} of the ceiling in the busiest ten seconds")
    assert worst <= MOST


def test_the_window_shows_what_the_wire_carries(run: tuple[MeasuredRun, float, float]) -> None:
    measured, begin, end = run
    for volunteer in measured.volunteers:
        first, last = quiet_moment(volunteer, begin, begin + EDGE), quiet_moment(volunteer, end - EDGE, end)
        log = volunteer.interface.around(first.at, last.at)
        seen = carried(log, "up"), carried(log, "down")
        shown = last.uploaded - first.uploaded, last.downloaded - first.downloaded
        print(f"in {last.at - first.at:.0f} s up and down: {shown} bytes in the window, {seen} at the interface")
        assert shown == pytest.approx(seen, rel=COUNTED_WITHIN)


def quiet_moment(volunteer: Volunteer, begin: float, end: float) -> Seen:
    """When the window, which is up to half a second behind, could miss least."""

    def just_carried(seen: Seen) -> int:
        log = volunteer.interface.around(seen.at - 1.0, seen.at)
        return carried(log, "up") + carried(log, "down")

    return min(seen_in(volunteer, begin, end), key=just_carried)


def seen_in(volunteer: Volunteer, begin: float, end: float) -> list[Seen]:
    return [seen for seen in volunteer.seen if begin <= seen.at <= end]


def by_phase(volunteer: Volunteer, begin: float, end: float) -> dict[str, tuple[float, int, int]]:
    """Seconds, bytes up at the interface and in the window. Short phases come out too high at the interface: both ends
    of each are read as much as a reading too late, and the window is up to half a second behind."""
    found = dict[str, tuple[float, int, int]]()
    for earlier, later in itertools.pairwise(seen_in(volunteer, begin, end)):
        seconds, wire, counted = found.get(earlier.phase, (0.0, 0, 0))
        found[earlier.phase] = (
            seconds + later.at - earlier.at,
            wire + carried(volunteer.interface.around(earlier.at, later.at), "up"),
            counted + later.uploaded - earlier.uploaded,
        )
    return found

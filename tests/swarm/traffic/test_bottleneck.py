import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.traffic.bottleneck import (
    NOMINAL,
    BottleneckBandwidth,
    DownlinkBandwidth,
    Readings,
    delivered,
    is_limited,
    is_limited_in,
)
from core.swarm.traffic.tcp_info import Carried, Connection

MBIT = 125_000.0
SECONDS = 0.2
NOTHING = Connection(Carried(), payload=0, busy=0.0, in_flight=0)


def read(estimate: BottleneckBandwidth, rates: Iterable[float], *, is_limited: bool) -> float:
    for rate in rates:
        estimate.add(round(rate * SECONDS), SECONDS, is_limited=is_limited)
    return estimate.value


def sending(payload: int, *, busy: float, in_flight: int = 20) -> Connection:
    return Connection(Carried(up=payload), payload, busy * SECONDS, in_flight)


def test_what_is_not_known_is_taken_for_a_hundred_megabits() -> None:
    assert BottleneckBandwidth().value == NOMINAL == 100 * MBIT


def test_a_slower_line_is_believed_within_a_second() -> None:
    assert read(BottleneckBandwidth(), [10 * MBIT] * 5, is_limited=True) == 10 * MBIT


def test_readings_of_bursts_make_one_line() -> None:
    # A frame more or less in each.
    rates = [10.0, 11.3, 8.7, 10.0, 11.3, 10.0, 8.7, 8.7, 11.3, 10.0, 10.0]
    estimate = BottleneckBandwidth()
    read(estimate, [10 * MBIT] * 5, is_limited=True)
    for rate in rates:
        assert read(estimate, [rate * MBIT], is_limited=True) == pytest.approx(10 * MBIT, rel=0.05)


def test_what_was_lost_on_the_way_has_not_arrived() -> None:
    then, now = (Connection(Carried(up), up, 0.0, 20, delivered=came) for up, came in ((1000, 900), (9000, 6000)))
    assert delivered({b"a": then}, {b"a": now, b"new": now}) == 5100


def test_one_reading_is_not_believed() -> None:
    assert read(BottleneckBandwidth(), [10 * MBIT, 0.0], is_limited=True) == NOMINAL


def test_a_faster_line_is_believed_slowly() -> None:
    estimate = BottleneckBandwidth()
    read(estimate, [10 * MBIT] * 5, is_limited=True)
    after_a_second = read(estimate, [50 * MBIT] * 5, is_limited=True)
    assert 10 * MBIT < after_a_second < 20 * MBIT
    assert read(estimate, [50 * MBIT] * 100, is_limited=True) == pytest.approx(50 * MBIT, rel=0.05)


def test_a_line_that_nobody_waits_for_carries_at_least_what_it_carries() -> None:
    assert read(BottleneckBandwidth(), [10 * MBIT] * 50, is_limited=False) == NOMINAL
    assert read(BottleneckBandwidth(), [500 * MBIT] * 200, is_limited=False) == pytest.approx(500 * MBIT, rel=0.01)


def test_a_line_that_is_not_waited_for_any_more_is_tried_with_more_little_by_little() -> None:
    estimate = BottleneckBandwidth()
    read(estimate, [10 * MBIT] * 5, is_limited=True)
    assert 11 * MBIT < read(estimate, [8 * MBIT] * 150, is_limited=False) < 14 * MBIT
    assert read(estimate, [8 * MBIT] * 100_000, is_limited=False) <= NOMINAL


def test_a_line_that_was_down_is_tried_again() -> None:
    estimate = BottleneckBandwidth()
    assert read(estimate, [0.0] * 50, is_limited=True) > 0
    assert read(estimate, [10 * MBIT] * 200, is_limited=True) == pytest.approx(10 * MBIT, rel=0.01)


@given(st.lists(st.tuples(st.integers(0, 1 << 40), st.floats(1e-6, 1e3), st.booleans())))
def test_the_estimate_is_positive_and_below_what_was_ever_seen(readings: list[tuple[int, float, bool]]) -> None:
    estimate = BottleneckBandwidth()
    for sent, seconds, limited in readings:
        estimate.add(sent, seconds, is_limited=limited)
        assert 0 < estimate.value <= max(NOMINAL, *(sent / seconds for sent, seconds, _limited in readings))


def test_the_line_is_waited_for_when_all_who_send_much_have_packets_on_the_way_all_the_time() -> None:
    before = {b"a": NOTHING, b"b": NOTHING, b"c": NOTHING}
    talk = sending(100, busy=0.1, in_flight=0)
    assert is_limited(before, {b"a": sending(9000, busy=1.0), b"b": sending(5000, busy=0.95), b"c": talk}, SECONDS)


def test_a_slow_receiver_is_not_a_slow_line() -> None:
    before = {b"slow": NOTHING, b"fast": NOTHING}
    assert not is_limited(before, {b"slow": sending(9000, busy=1.0), b"fast": sending(9000, busy=0.3)}, SECONDS)


def test_short_messages_to_a_far_peer_do_not_wait_for_the_line() -> None:
    assert not is_limited({b"far": NOTHING}, {b"far": sending(3000, busy=1.0, in_flight=2)}, SECONDS)


def test_a_connection_that_was_not_there_before_says_nothing() -> None:
    assert not is_limited({}, {b"new": sending(9000, busy=1.0)}, SECONDS)
    assert not is_limited({b"old": NOTHING}, {b"old": NOTHING}, SECONDS)


def limited_readings(*, line: float, slow_peer: float, seconds: float) -> list[bool]:
    """Of a peer that sends as much to one with a slow line as to a fast one, and ends there first."""
    readings, found = Readings(), []
    connections = {b"slow": NOTHING, b"fast": NOTHING}
    rates = {b"slow": slow_peer, b"fast": slow_peer}
    for number in range(round(seconds / SECONDS)):
        now = number * SECONDS
        if now > 0.8 * seconds:
            rates[b"fast"] = 0.0
        together = sum(rates.values())
        for name, rate in rates.items():
            # It is busy for as long as the narrowest place of its way is.
            share = 1.0 if name == b"slow" or together >= line else rate / line
            before = connections[name]
            carried, busy = before.payload + round(rate * SECONDS), before.busy + bool(rate) * share * SECONDS
            connections[name] = Connection(Carried(up=carried), carried, busy, 20)
        sent = round(together * SECONDS)
        found.append(readings.add(now, sent, dict(connections)))
    return found


@pytest.mark.parametrize("seconds", [3.0, 8.0, 20.0])
def test_what_is_left_for_a_slow_peer_when_the_others_have_all_says_nothing_of_the_line(seconds: float) -> None:
    assert not any(limited_readings(line=100 * MBIT, slow_peer=5 * MBIT, seconds=seconds))


def test_a_line_that_all_wait_for_is_known_from_the_second_reading_on() -> None:
    found = limited_readings(line=10 * MBIT, slow_peer=5 * MBIT, seconds=8.0)
    assert all(found[1:32])


def receiving(payload: int, *, queued: float) -> Connection:
    return Connection(Carried(down=payload), 0, 0.0, 0, payload, queued=queued)


def test_who_sends_waits_for_a_line_if_everything_stands_in_a_queue_that_comes() -> None:
    before = {b"one": NOTHING, b"two": NOTHING, b"rare": NOTHING}
    queued = {b"one": receiving(50_000, queued=0.1), b"two": receiving(40_000, queued=0.1)}
    assert is_limited_in(before, {**queued, b"rare": receiving(500, queued=0.0)})
    assert not is_limited_in(before, {**queued, b"two": receiving(40_000, queued=0.001)})
    assert not is_limited_in(before, {})


def downlink(rates: Iterable[float], slowest: Iterable[float]) -> DownlinkBandwidth:
    """After rounds in which as much came in and all waited, the slowest other line saying so much each time."""
    learned = DownlinkBandwidth()
    for rate, other in zip(rates, slowest, strict=True):
        for _reading in range(5):
            learned.add(round(rate * SECONDS), SECONDS, is_limited=True)
        learned.add_round(other)
    return learned


def test_a_way_in_that_is_slower_than_all_other_lines_is_this_peers_own() -> None:
    assert downlink([10 * MBIT] * 2, [NOMINAL] * 2).value == 10 * MBIT


def test_a_way_in_that_another_line_explains_tells_nothing_of_this_one() -> None:
    # In the first round that one did not know its line yet.
    for rounds in (1, 2, 3):
        assert downlink([10 * MBIT] * rounds, [NOMINAL, 10 * MBIT, 10 * MBIT][:rounds]).value == math.inf


def test_a_way_in_counts_no_more_when_a_slower_line_comes() -> None:
    assert downlink([10 * MBIT] * 3, [NOMINAL, NOMINAL, 5 * MBIT]).value == math.inf

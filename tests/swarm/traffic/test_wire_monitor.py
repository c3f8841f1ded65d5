"""When the kernel is asked what the wire has carried."""

import pytest

from core.swarm.traffic.meter import Kind, TrafficMeter
from core.swarm.traffic.tcp_info import Carried
from core.swarm.traffic.wire_monitor import Pace


def test_it_is_asked_every_three_seconds_while_only_calls_pass() -> None:
    """A paused session takes no more of the processor than it must."""
    meter = TrafficMeter()
    pace = Pace(meter, 0.0)
    meter.add("dht", up=500, down=700)
    assert not pace.is_due(0.2)
    assert not pace.is_due(2.8)
    assert pace.is_due(3.0)


@pytest.mark.parametrize("kind", ["averaging", "state", "dht"])
def test_it_is_asked_at_once_when_a_round_or_a_state_passes(kind: Kind) -> None:
    """A ceiling holds over a fifth of a second."""
    meter = TrafficMeter()
    pace = Pace(meter, 0.0)
    meter.add(kind, down=50_000)
    assert pace.is_due(0.2)
    pace.note_reading(0.2)
    assert not pace.is_due(0.4)


def test_what_the_daemon_carries_besides_is_no_reason_to_ask() -> None:
    meter = TrafficMeter()
    pace = Pace(meter, 0.0)
    meter.set_carried(Carried(100_000, 100_000))
    pace.note_reading(0.2)
    assert not pace.is_due(0.4)

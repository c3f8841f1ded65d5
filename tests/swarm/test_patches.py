"""What core.swarm.patches relies on in hivemind. A failure here means: read the library again, then the patch."""

import asyncio
import inspect

import pytest
from hivemind.optim.optimizer import Optimizer
from hivemind.optim.progress_tracker import ProgressTracker
from hivemind.p2p import P2P
from hivemind.p2p.p2p_daemon_bindings import control

from core.swarm import patches
from core.swarm.traffic import RateWatch, TrafficMeter


def test_sockets_are_named_after_a_prefix_of_the_class() -> None:
    source = inspect.getsource(P2P.create)
    assert 'cls._UNIX_SOCKET_PREFIX + f"p2pd-' in source
    assert 'cls._UNIX_SOCKET_PREFIX + f"p2pclient-' in source


def test_every_message_to_and_from_the_daemon_passes_the_counted_functions() -> None:
    streams = inspect.getsource(P2P.send_protobuf) + inspect.getsource(P2P.receive_protobuf)
    assert streams.count("P2P.send_raw_data(") == 1
    assert streams.count("P2P.receive_raw_data(") == 2
    assert list(inspect.signature(P2P.receive_raw_data).parameters) == ["reader"]
    calls = inspect.getsource(control)
    assert "write_pbmsg,\n" in calls
    assert "read_pbmsg_safe,\n" in calls


def test_local_gradients_are_used_in_one_method_only() -> None:
    fallback = Optimizer._load_local_gradients_into_optimizer
    callers = [
        name
        for name, method in inspect.getmembers(Optimizer, inspect.isfunction)
        if f"self.{fallback.__name__}()" in inspect.getsource(method)
    ]
    assert callers == ["_average_gradients_and_load_into_optimizer", "_begin_averaging_gradients"]


def test_peers_are_counted_where_the_tracker_parses_their_records() -> None:
    source = inspect.getsource(ProgressTracker._parse_swarm_progress_data)
    assert "num_peers = len(valid_peer_entries)" in source


class Stream:
    """As much of asyncio's streams as the counted functions touch."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)

    def write(self, data: bytes) -> None:
        self.data += bytes(data)

    async def drain(self) -> None:
        pass

    async def readexactly(self, size: int) -> bytes:
        taken, self.data = self.data[:size], self.data[size:]
        return bytes(taken)


def test_traffic_is_counted_in_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("send_raw_data", "receive_raw_data"):
        monkeypatch.setattr(P2P, name, staticmethod(getattr(P2P, name)))
    for name in ("write_pbmsg", "read_pbmsg_safe"):
        monkeypatch.setattr(control, name, getattr(control, name))
    meter = TrafficMeter()
    patches.count_traffic(meter)

    wire = Stream()
    asyncio.run(P2P.send_raw_data(b"x" * 100_000, wire))
    assert meter.uploaded == len(wire.data) == 100_008
    assert asyncio.run(P2P.receive_raw_data(wire)) == b"x" * 100_000
    assert meter.downloaded == 100_008


def test_a_rate_is_the_mean_over_the_last_seconds() -> None:
    meter = TrafficMeter()
    watch = RateWatch(meter)
    watch.read(0.0)
    meter.add_uploaded(1000)
    assert watch.read(2.0).upload_rate == 500
    for second in range(3, 29):
        watch.read(float(second))
    reading = watch.read(29.0)
    assert reading.upload_rate == 0
    assert reading.uploaded == 1000

"""The thread of a tracker ends, and with it what it waits for."""

import gc
import os
import signal

import pytest
from hivemind import DHT

from core.swarm.dht.progress.tracker_thread import TrackerThread
from tests.waiting import wait_for


def test_a_tracker_that_ends_gives_up_the_report_that_is_on_its_way(caplog: pytest.LogCaptureFixture) -> None:
    """asyncio complains when the garbage collector takes a task that waits."""
    dht = DHT(host_maddrs=["/ip4/127.0.0.1/tcp/0"], use_relay=False, start=True)
    try:
        tracker = TrackerThread(dht, "run", 384, start=True)
        os.kill(dht.pid, signal.SIGSTOP)
        tracker.report_local_progress(6, 16)
        wait_for(lambda: not tracker.should_report_progress.is_set())
        tracker.shutdown(5.0)
        tracker.join(5.0)
        gc.collect()
    finally:
        os.kill(dht.pid, signal.SIGCONT)
        dht.shutdown()
        dht.join()
    assert not tracker.is_alive()
    assert [record for record in caplog.records if record.name == "asyncio"] == []

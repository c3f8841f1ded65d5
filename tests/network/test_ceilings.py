"""The ceilings at the network interface of real peers, everything included: headers, encryption, the peers' talk."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.network.interface_log import Direction, carried, mean_rate, worst_window
from tests.network.lineups.swarm import RemotePeer, swarm

MEGABIT = 125_000
MEGABYTE = 1_000_000
MOST, LEAST = 1.03, 0.85
"""Of the ceiling: in any ten seconds, and on average under load."""
CEILINGS = (60_000, 100_000, MEGABYTE, 10 * MEGABYTE)
STATE, LONGEST = 12 * MEGABYTE, 25.0
"""Bytes, and seconds of it that are watched under a ceiling."""
COUNTED_WITHIN = 0.03
"""Of what the interface carried."""

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def peers() -> Iterator[tuple[RemotePeer, RemotePeer]]:
    """One that can be reached and one that cannot, as most volunteers."""
    folder = Path(tempfile.mkdtemp(prefix="hive"))
    try:
        with swarm(folder, [True, False]) as (one, other):
            yield one, other
    finally:
        for log in sorted(folder.glob("*.log")):
            print(log.name, log.read_text()[-4000:])
        shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def without_ceilings(peers: tuple[RemotePeer, RemotePeer]) -> None:
    for peer in peers:
        peer.limit()


def assert_kept(peer: RemotePeer, direction: Direction, ceiling: float, since: float) -> None:
    whole = peer.interface.readings(since)
    worst, mean = worst_window(whole, direction) / ceiling, mean_rate(whole, direction) / ceiling
    print(f"{direction}: {worst:.3f} of the ceiling in the busiest ten seconds, {mean:.3f} on average")
    assert worst <= MOST
    assert mean >= LEAST


def fetch_state(peer: RemotePeer) -> float:
    begin = peer.begin("state")
    assert peer.answer()["size"] > 10 * MEGABYTE
    return begin


@pytest.mark.parametrize("ceiling", CEILINGS)
@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_ceiling_holds_while_a_state_is_given_and_taken(
    peers: tuple[RemotePeer, RemotePeer], direction: Direction, ceiling: int
) -> None:
    giver, taker = peers
    limited, name = (giver, "upload") if direction == "up" else (taker, "download")
    limited.limit(**{name: ceiling})
    begin = taker.begin("state")
    time.sleep(min(LONGEST, STATE / ceiling))  # the time that is measured
    end = limited.limit()
    taker.answer()
    readings = limited.interface.around(begin, end)
    worst, mean = worst_window(readings, direction) / ceiling, mean_rate(readings, direction) / ceiling
    print(f"{ceiling} B/s {direction}: {worst:.3f} of it in the busiest ten seconds, {mean:.3f} on average")
    assert worst <= MOST
    assert mean >= LEAST or ceiling == CEILINGS[-1], "a state of a second has its beginning and its end"


def test_a_changed_ceiling_counts_within_a_second(peers: tuple[RemotePeer, RemotePeer]) -> None:
    giver, taker = peers
    loads: list[tuple[RemotePeer, Direction, str]] = [(giver, "up", "upload"), (taker, "down", "download")]
    for peer, direction, name in loads:
        taker.begin("state")
        peer.limit(**{name: MEGABYTE})
        time.sleep(3)
        lowered = peer.limit(**{name: MEGABYTE // 4})
        time.sleep(4)
        raised = peer.limit(**{name: 2 * MEGABYTE})
        taker.answer()
        low = mean_rate(peer.interface.readings(lowered + 1, raised), direction)
        high = mean_rate(peer.interface.readings(raised + 1, raised + 3), direction)
        print(f"{direction}, from a second after each change on: {low:.0f} B/s, then {high:.0f} B/s")
        assert LEAST * MEGABYTE / 4 <= low <= MOST * MEGABYTE / 4
        assert high >= LEAST * 2 * MEGABYTE
        peer.limit()


def test_a_round_under_one_megabit_completes(peers: tuple[RemotePeer, RemotePeer]) -> None:
    fast, slow = peers
    slow.limit(upload=MEGABIT, download=MEGABIT)
    begin = time.monotonic()
    fast.begin("epoch")
    slow.begin("epoch")
    answers = [fast.answer(), slow.answer()]
    print(answers, time.monotonic() - begin)
    assert [answer["group"] for answer in answers] == [2, 2]
    for direction in ("up", "down"):
        readings = slow.interface.readings(begin)
        print(f"{direction}: busiest window {worst_window(readings, direction) / MEGABIT:.3f} of the ceiling")
        assert worst_window(readings, direction) <= MOST * MEGABIT
        assert carried(readings, direction) > 2_000_000


@contextmanager
def web_server(peer: RemotePeer, folder: Path, port: int) -> Iterator[str]:
    serve = [sys.executable, "-m", "http.server", str(port), "--bind", peer.host.address, "--directory", str(folder)]
    process = subprocess.Popen(peer.host.command(*serve), stderr=subprocess.DEVNULL)
    try:
        probe = peer.host.command("bash", "-c", f"until : </dev/tcp/{peer.host.address}/{port}; do sleep 0.1; done")
        subprocess.run(probe, timeout=30, check=True, stderr=subprocess.DEVNULL)
        yield f"http://{peer.host.address}:{port}"
    finally:
        process.terminate()
        process.wait()


def test_files_come_under_the_same_ceiling(peers: tuple[RemotePeer, RemotePeer], tmp_path: Path) -> None:
    giver, taker = peers
    (tmp_path / "shard").write_bytes(bytes(3 * MEGABYTE))
    taker.limit(download=2 * MEGABIT)
    with web_server(giver, tmp_path, 8000) as url:
        begin = taker.begin("file", f"{url}/shard")
        assert taker.answer()["size"] == 3 * MEGABYTE
    assert_kept(taker, "down", 2 * MEGABIT, begin)


def test_the_counts_add_up_to_what_the_interface_saw(peers: tuple[RemotePeer, RemotePeer]) -> None:
    giver, taker = peers
    before = [peer.ask("traffic") for peer in peers]
    begin = time.monotonic()
    fetch_state(taker)
    after = [peer.ask("traffic") for peer in peers]
    end = time.monotonic()
    seen = (
        carried(giver.interface.around(begin, end), "up"),
        carried(taker.interface.around(begin, end), "down"),
    )
    counted = (total(after[0], 0) - total(before[0], 0), total(after[1], 1) - total(before[1], 1))
    print(f"counted {counted}, seen {seen}")
    assert counted == pytest.approx(seen, rel=COUNTED_WITHIN)
    assert after[1]["state"][1] - before[1]["state"][1] > 0.9 * counted[1]


def total(counts: dict[str, Any], direction: int) -> int:
    return int(counts["all"][direction])

import subprocess
import sys
from pathlib import Path

import pytest

from core.swarm.dht.peer import LOOPBACK, listening_places

FAR = ["/ip4/192.0.2.1/tcp/31337/p2p/Qm"]
JOIN = """
import sys
from pathlib import Path
import psutil
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.swarm.dht.peer import join_swarm
install(Path(sys.argv[1]), Link())
dht = join_swarm([], Path(sys.argv[1], "identity"))
daemons = [child for child in psutil.Process(dht.pid).children() if "p2pd" in child.name()]
print(*daemons[0].cmdline(), sep="\\n")
dht.shutdown()
"""


@pytest.mark.parametrize(
    ("peers", "port", "maps_port", "places"),
    [
        (FAR, 0, False, ()),
        (FAR, 4001, False, ("/ip4/0.0.0.0/tcp/4001", "/ip6/::/tcp/4001")),
        (FAR, 4001, True, ("/ip4/0.0.0.0/tcp/4001", "/ip6/::/tcp/4001")),
        (["/ip4/127.0.0.1/tcp/1/p2p/Qm"], 4001, True, (LOOPBACK,)),
        (["/ip4/127.0.0.1/tcp/1/p2p/Qm", *FAR], 0, False, ()),
    ],
)
def test_a_volunteer_listens_on_the_chosen_port_and_otherwise_not_at_all(
    peers: list[str], port: int, maps_port: bool, places: tuple[str, ...]
) -> None:
    assert listening_places(peers, port, maps_port=maps_port) == places


def test_for_a_mapped_port_any_free_one_does_and_both_protocols_have_the_same() -> None:
    ports = {place.rsplit("/", 1)[1] for place in listening_places(FAR, 0, maps_port=True)}
    assert len(ports) == 1
    assert ports != {"0"}


def test_the_daemon_is_told_to_relay_for_nobody(short_folder: Path) -> None:
    subreaper = [sys.executable, "-m", "core.system.subreaper", str(short_folder / "subreaper"), "--"]
    told = subprocess.run(
        [*subreaper, sys.executable, "-c", JOIN, str(short_folder)],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    arguments = told.stdout.splitlines()
    assert "-relay=0" in arguments
    assert "-autoRelay=0" in arguments
    assert not any(argument in {"-relay", "-relay=1", "-relayService=1"} for argument in arguments)

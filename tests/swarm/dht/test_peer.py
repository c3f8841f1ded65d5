import subprocess
import sys
from pathlib import Path

import pytest

from core.swarm.dht.peer import LOOPBACK, listening_place

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
    ("peers", "port", "place"),
    [
        (FAR, 0, None),
        (FAR, 4001, "/ip4/0.0.0.0/tcp/4001"),
        (["/ip4/127.0.0.1/tcp/1/p2p/Qm"], 4001, LOOPBACK),
        (["/ip4/127.0.0.1/tcp/1/p2p/Qm", *FAR], 0, None),
    ],
)
def test_a_volunteer_listens_on_the_chosen_port_and_otherwise_not_at_all(
    peers: list[str], port: int, place: str | None
) -> None:
    assert listening_place(peers, port) == place


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

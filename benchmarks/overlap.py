"""In how much of its time a volunteer computes, with the next batch computed during the rounds and without.

Volunteers on hosts of their own (network namespaces), each with a line shaped to UP/DOWN Mbit/s, as in
`benchmarks.rounds`; the same volunteers on the same lines one way after the other. A microbatch takes a tenth of a
second and no processor, as on a card, so that the figure is not that of a machine which all of them share. The state is
averaged in every fifth epoch.

Needs root. Run it with `.venv/bin/python -m benchmarks.overlap [PARAMETERS EPOCHS BATCH_SECONDS LINE LINE ...]`;
BATCH_SECONDS is how long all together compute for a batch.
"""

import statistics
import sys
from contextlib import ExitStack
from typing import Any

from benchmarks.peer_processes import Peer, PeerProcesses
from benchmarks.rounds import Line, homes
from tests.network.namespaces import Host

DEFAULT = ("2000000", "20", "2.5", "20/100", "20/100")
_PORT = 31003


class Run:
    """One swarm on these hosts, the first of which is there to be called."""

    def __init__(self, opened: ExitStack, places: list[Host], task: dict[str, Any]) -> None:
        self._processes = PeerProcesses(opened)
        meeting, *volunteers = places
        contact = self._start(meeting, {"contacts": [], "peers": 0})
        task = {**task, "contacts": self._processes.read(contact)["address"], "peers": len(volunteers)}
        self._peers = [self._start(home, task) for home in volunteers]
        for peer in self._peers:
            self._processes.read(peer)

    def results(self) -> list[dict[str, float]]:
        """Of each volunteer, when all are done."""
        return [self._processes.read(peer) for peer in self._peers]

    def _start(self, host: Host, task: dict[str, Any]) -> Peer:
        listen = f"/ip4/{host.address}/tcp/{_PORT}"
        return self._processes.start(host, "benchmarks.overlap_peer", listen, task=task)


def main(parameters: int, epochs: int, batch_seconds: float, lines: list[Line]) -> None:
    with homes(lines) as places:
        for overlap in ("never", "always"):
            task = {"parameters": parameters, "epochs": epochs, "batch_seconds": batch_seconds, "overlap": overlap}
            with ExitStack() as opened:
                results = Run(opened, places, task).results()
            shares = [result["computed"] / result["wall"] for result in results]
            print(
                f"overlap {overlap}: computes in {statistics.fmean(shares):.1%} of the time"
                f" ({', '.join(f'{share:.1%}' for share in shares)});"
                f" {epochs} epochs of {statistics.fmean(result['wall'] for result in results) / epochs:.2f} s,"
                f" {sum(result['failed'] for result in results):.0f} failed rounds",
                flush=True,
            )


if __name__ == "__main__":
    given = sys.argv[1:] or DEFAULT
    main(int(given[0]), int(given[1]), float(given[2]), [Line.parse(text) for text in given[3:]])

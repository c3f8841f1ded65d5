"""In how much of its time a volunteer computes, with the next batch computed during the rounds and without.

Volunteers on hosts of their own (network namespaces), each with a line shaped to UP/DOWN Mbit/s, as in
`benchmarks.rounds`; the same volunteers on the same lines one way after the other. A microbatch takes a tenth of a
second and no processor, as on a card, so that the figure is not that of a machine which all of them share; with
`processor` it is work for one core. The state is averaged in every fifth epoch.

Needs root. Run it with
`.venv/bin/python -m benchmarks.overlap [card|processor WAYS PARAMETERS EPOCHS BATCH_SECONDS LINE LINE ...]`; WAYS are
`never,always,auto` or some of them, and BATCH_SECONDS is how long all together compute for a batch.
"""

import statistics
import sys
from contextlib import ExitStack
from typing import Any

from benchmarks.peer_processes import Peer, PeerProcesses
from benchmarks.rounds import Line, homes
from tests.network.namespaces import Host

DEFAULT = ("card", "never,always", "2000000", "20", "2.5", "20/100", "20/100")
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


def main(task: dict[str, Any], ways: list[str], lines: list[Line]) -> None:
    epochs = task["epochs"]
    with homes(lines) as places:
        for overlap in ways:
            with ExitStack() as opened:
                results = Run(opened, places, {**task, "overlap": overlap}).results()
            shares = [result["computed"] / result["wall"] for result in results]
            print(
                f"overlap {overlap}: computes in {statistics.fmean(shares):.1%} of the time"
                f" ({', '.join(f'{share:.1%}' for share in shares)});"
                f" {epochs} epochs of {statistics.fmean(result['wall'] for result in results) / epochs:.2f} s,"
                f" batches of {sum(result['batches'] for result in results) / epochs:.3f} of the target,"
                f" {sum(result['failed'] for result in results):.0f} failed rounds",
                flush=True,
            )


if __name__ == "__main__":
    given = sys.argv[1:] or DEFAULT
    described = {
        "on_processor": given[0] == "processor",
        "parameters": int(given[2]),
        "epochs": int(given[3]),
        "batch_seconds": float(given[4]),
    }
    main(described, given[1].split(","), [Line.parse(text) for text in given[5:]])

"""A peer of `benchmarks.rounds`: averages once for each line on its standard input, as this product does (with
CenteredClip or with its mean) or as hivemind."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from hivemind import DHT
from hivemind.averaging.control import AveragingStage
from hivemind.compression import Float16Compression
from hivemind.optim.grad_averager import GradientAverager
from hivemind.p2p import P2P

from core.api.project.manifest import Averaging
from core.swarm.all_reduce.bandwidth import part_size, part_timeout
from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.averaging.group import group_of
from core.swarm.averaging.group_formation import Expected
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.swarm.traffic.wire_monitor import WireMonitor

PRODUCT, MEAN, PLAIN = "product", "mean", "plain"
_AVERAGING = Averaging("float16", matchmaking_time=10.0, averaging_timeout=120.0)
_LONGEST = 600.0
"""Seconds that a round may take; of a large model between slow lines it takes longer than a project would allow."""


def main(folder: str, kind: str, listen: str, task: str) -> None:
    """`listen` is the multiaddress to be called at, empty for a peer that only calls others."""
    torch.set_num_threads(1)
    # By name, torch asks a process of its own for memory, which does not answer in time where dozens of peers begin.
    torch.multiprocessing.set_sharing_strategy("file_descriptor")
    place = Path(folder)
    place.mkdir()
    # What is left there when this process ends goes with the folder.
    tempfile.tempdir = folder
    described = json.loads(task)
    link = Link()
    if kind != PLAIN:
        install(place, link)
        dht = join_swarm(described["contacts"], place / "key", listen or None)
        WireMonitor(link, dht).start()
    else:
        # hivemind leaves its sockets behind; here they go with the folder.
        P2P._UNIX_SOCKET_PREFIX = f"/unix{place}/"
        dht = DHT(
            initial_peers=described["contacts"],
            host_maddrs=[listen] if listen else [],
            no_listen=not listen,
            client_mode=not listen,
            startup_timeout=60.0,
            use_relay=False,
            start=True,
        )
    print(json.dumps({"address": own_addresses(dht)[:1] if listen else []}), flush=True)
    if described["group"]:
        _average(kind, dht, described, link)
    sys.stdin.read()
    # Processes that are left would keep the pipe open that the benchmark reads.
    dht.shutdown()
    os._exit(0)


def _average(kind: str, dht: DHT, described: dict[str, Any], link: Link) -> None:
    adds_samples, epoch = described["adds_samples"], 0
    # Gradients are averaged where they are: of a large model, several peers share one computer's memory here.
    parameter = torch.nn.Parameter(torch.empty(described["parameters"]))
    parameter.grad = torch.randn(described["parameters"])
    options: dict[str, Any] = {
        "parameters": [parameter],
        "dht": dht,
        "prefix": "run",
        "reuse_grad_buffers": True,
        "target_group_size": described["group"],
        "bandwidth": described["bandwidth"],
        "compression": Float16Compression(),
        "min_matchmaking_time": _AVERAGING.matchmaking_time,
        "request_timeout": 5.0,
        "allreduce_timeout": _LONGEST,
        "next_chunk_timeout": part_timeout(_AVERAGING),
        "client_mode": dht.client_mode,
        "start": True,
    }
    averager: GradientAverager
    if kind != PLAIN:
        averager = EpochGradientAverager(
            epoch=lambda: epoch,
            adds_samples=adds_samples,
            is_robust=kind == PRODUCT,
            expected=lambda: Expected({str(number).encode(): 0.0 for number in range(described["group"] - 1)}),
            part_size_bytes=part_size(described["parameters"], _AVERAGING),
            **{**options, "bandwidth": link.bandwidth},
        )
    else:
        averager = GradientAverager(auxiliary=not adds_samples, **options)
    averager.accumulate_grads_(1)
    for _line in sys.stdin:
        averager.load_accumulators_into_averager_()
        control = averager.schedule_step(timeout=300.0)
        if kind != PLAIN or adds_samples:
            control.weight = float(adds_samples)
        while control.stage in (AveragingStage.IDLE, AveragingStage.LOOKING_FOR_GROUP):
            time.sleep(0.002)
        found = time.monotonic()
        control.allow_allreduce()
        ended: dict[str, Any] = {"found": found, "bandwidth": averager.bandwidth}
        try:
            gathered = control.result()
        except Exception as error:  # noqa: BLE001 - whatever keeps it from its average; the others answer likewise
            ended["failure"] = str(error)
        else:
            ended |= {"done": time.monotonic(), "group": len(gathered)}
            if kind != PLAIN and (group := group_of(gathered, epoch)) is not None:
                link.downlink.add_round(group.slowest_beside(dht.peer_id))
        print(json.dumps(ended), flush=True)
        epoch += 1
    averager.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""How many copies of the model's parameters a session holds.

A lone peer of a run builds optimizer and averagers as the trainer does, computes a microbatch and makes an update. Then
the tensors of its process are counted by who holds them, each memory once, as a multiple of the parameters in float32;
and by how much the process has grown since before the model was built (proportional set size).

Run it with `.venv/bin/python -m benchmarks.copies [WIDTH ...]`: hidden sizes of the model, 256 and 1024 if none is
given.
"""

import gc
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from benchmarks.footprint import memory
from core.learning.light_imports import loading

with loading():
    import msgspec
    import torch

    from core.api.project.manifest import Manifest
    from core.host.project import load
    from core.learning.model import build_model, count_parameters
    from core.learning.tasks import task_for
    from core.swarm.averaging.optimizer import CollaborativeOptimizer
    from core.swarm.build import make_optimizer
    from core.swarm.dht.peer import join_swarm
    from core.swarm.patches import install
    from core.swarm.traffic.link import Link
    from tests.fakes.backbone import ScriptedBackbone

WIDTHS = (256, 1024)
_FLOAT = 4
_SAMPLES = ["the quality of mercy is not strained " * 40] * 8


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] == "one":
        measure(int(sys.argv[2]))
        return
    # Each in a process of its own, so that none has another one's memory.
    for width in [int(word) for word in sys.argv[1:]] or WIDTHS:
        subprocess.run([sys.executable, "-m", "benchmarks.copies", "one", str(width)], check=True)


def measure(width: int) -> None:
    practice = Path(__file__).parent.parent / "resources" / "practice"
    with tempfile.TemporaryDirectory(prefix="hive") as folder, ExitStack() as ending:
        manifest = widened(load(practice / "project.toml").manifest(Path(folder), ()), width)
        install(Path(folder), Link())
        dht = join_swarm([], Path(folder) / "identity")
        ending.callback(dht.shutdown)
        before = weight()
        model = build_model(manifest)
        size = count_parameters(model)
        optimizer = make_optimizer(
            dht=dht,
            run_id=manifest.run_id,
            parameters=model.parameters(),
            training=manifest.training,
            averaging=manifest.averaging,
            backbone=ScriptedBackbone(),
        )
        ending.callback(optimizer.shutdown)
        task = task_for(manifest, model.config, practice / "tokenizer.json")
        for batch in task.batches(_SAMPLES, 4, 1):
            optimizer.grad_averager.lend()
            task.loss(model, batch).backward()
            optimizer.step(batch_size=len(batch["labels"]))
            if optimizer.local_epoch:
                break
            optimizer.zero_grad()
        held = copies(model, optimizer)
        print(f"{size / 1e6:.1f} M parameters, epoch {optimizer.local_epoch}")
        for name, count in held.items():
            print(f"  {name:36} {count / size:5.2f} x")
        print(f"  {'all tensors':36} {held.total() / size:5.2f} x")
        print(f"  {'growth of the process':36} {(weight() - before) / _FLOAT / size:5.2f} x", flush=True)


def widened(manifest: Manifest, width: int) -> Manifest:
    """The practice project with a wider model; one microbatch is enough for an update."""
    config = {**manifest.model.config, "hidden_size": width, "intermediate_size": 4 * width}
    return msgspec.structs.replace(
        manifest,
        model=msgspec.structs.replace(manifest.model, config=config),
        training=msgspec.structs.replace(manifest.training, target_batch_size=4, microbatch_size=4),
    )


def copies(model: torch.nn.Module, optimizer: CollaborativeOptimizer) -> Counter[str]:
    """Numbers in all tensors of this process, and in the averages kept for others, by who holds them; the first that
    holds a memory counts it."""
    state, gradients = optimizer.state_averager, optimizer.grad_averager
    inner = state.optimizer
    holders: dict[str, Iterable[object]] = {
        "parameters": list(model.parameters()),
        "gradients": [parameter.grad for parameter in model.parameters()],
        "accumulated gradients": list(gradients._grad_accumulators()),
        "averaged gradients, apart from those": list(gradients._averaged_tensors),
        "offloaded parameters": [one for group in inner.param_groups for one in group["params"]],
        "optimizer state": [value for state_of in inner.state.values() for value in state_of.values()],
        "what the state averager averages": list(state._averaged_tensors),
        "others": [found for found in gc.get_objects() if isinstance(found, torch.Tensor)],
    }
    seen: set[int] = set()
    held: Counter[str] = Counter()
    for name, tensors in holders.items():
        for tensor in tensors:
            if isinstance(tensor, torch.Tensor) and (storage := tensor.untyped_storage()).data_ptr() not in seen:
                seen.add(storage.data_ptr())
                held[name] += storage.nbytes() // _FLOAT
    if not gradients.client_mode:
        # In the averager's process, once there were so many updates.
        held["averages of the last updates"] = gradients.most_kept * gradients.average_size // _FLOAT
    return held


def weight() -> int:
    """Bytes of this process; what it shares counts by its part."""
    return int(memory(os.getpid()) * (1 << 20))


if __name__ == "__main__":
    main()

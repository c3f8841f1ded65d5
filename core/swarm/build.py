"""Puts the optimizer of a run together, as its manifest describes it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import hivemind
from hivemind.compression import (
    CompressionBase,
    Float16Compression,
    NoCompression,
    Uniform8BitQuantization,
)
from torch.nn import Parameter

from core.api.project.manifest import Averaging, Training
from core.api.session_settings import Limits
from core.learning.optimizers import optimizer_factory, scheduler_factory
from core.swarm.all_reduce import bandwidth
from core.swarm.averaging.group import Update
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.traffic.bottleneck import nominal_bandwidth

_PROGRESS_LASTS = 30.0
"""Seconds for which the others believe a peer that fell silent. hivemind's 60 would be two averaging time-outs in which
they wait for one that was killed."""
_PROGRESS_READ_EVERY = 30.0
"""Seconds, at most; more often towards the end of an epoch. Those who read it are sent the reports of all peers."""
_SOONEST_READ, _SOONEST_COUNT, _NEWCOMERS = 3.0, 1.0, 1
"""Seconds, at least, from one reading to the next, the same where samples count only once they are reported, and how
many peers are thought to come meanwhile: the more, the sooner. Else it is known from the speeds when the batch is full,
and readings at the end of an epoch would be most of what a group costs. hivemind has half a second and three peers."""
_NO_LIMITS = Limits()
COMPRESSIONS: dict[str, type[CompressionBase]] = {
    "none": NoCompression,
    "float16": Float16Compression,
    "uniform8bit": Uniform8BitQuantization,
}


def make_optimizer(
    *,
    dht: hivemind.DHT,
    run_id: str,
    parameters: Iterable[Parameter],
    training: Training,
    averaging: Averaging,
    backbone: BackboneMonitor,
    on_update: Callable[[Update], None] = lambda _update: None,
    yielding: Callable[[], bool] = lambda: False,
    extrapolate: bool = True,
    limits: Limits = _NO_LIMITS,
    line_bandwidth: Callable[[], float] = nominal_bandwidth,
    kind: Callable[..., CollaborativeOptimizer] = CollaborativeOptimizer,
    **options: Any,
) -> CollaborativeOptimizer:
    """The optimizer of one run as its manifest describes it. Must be called on the main thread (hivemind)."""
    compression = COMPRESSIONS[averaging.compression]
    parameters = list(parameters)
    optimizer = kind(
        backbone=backbone,
        on_update=on_update,
        yielding=yielding,
        extrapolate=extrapolate,
        dht=dht,
        run_id=run_id,
        target_batch_size=training.target_batch_size,
        batch_size_per_step=training.microbatch_size,
        params=parameters,
        optimizer=optimizer_factory(training.optimizer),
        scheduler=scheduler_factory(training.schedule),
        matchmaking_time=averaging.matchmaking_time,
        averaging_timeout=averaging.averaging_timeout,
        tracker_opts={
            "metadata_expiration": _PROGRESS_LASTS,
            "max_refresh_period": _PROGRESS_READ_EVERY,
            "min_refresh_period": _SOONEST_READ if extrapolate else _SOONEST_COUNT,
            "expected_drift_peers": _NEWCOMERS,
        },
        next_chunk_timeout=bandwidth.part_timeout(averaging),
        average_state_every=averaging.average_state_every,
        offload_optimizer=True,
        client_mode=dht.client_mode,
        grad_compression=compression(),
        bytes_per_value=bandwidth.BYTES_PER_VALUE[averaging.compression],
        group_options=_group_options(parameters, averaging, line_bandwidth),
        state_averaging_compression=compression(),
        **options,
    )
    optimizer.run_state.limit_transfer(limits)
    return optimizer


def _group_options(
    parameters: Sequence[Parameter], averaging: Averaging, line_bandwidth: Callable[[], float]
) -> dict[str, Any]:
    """How the members of a group find each other, and how they divide what they average."""
    size = sum(parameter.numel() for parameter in parameters)
    return {
        "bandwidth": line_bandwidth,
        "part_size_bytes": bandwidth.part_size(size, averaging),
        "target_group_size": averaging.target_group_size,
        "is_robust": averaging.reducer == "centered_clip",
        # Larger than matchmaking time, hivemind warns, can deadlock two peers that ask each other.
        "request_timeout": min(5.0, averaging.matchmaking_time * 0.6),
    }

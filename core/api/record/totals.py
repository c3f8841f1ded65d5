"""What is counted of a contribution, declared once for sessions, hours and sums of years."""

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0, le=1 << 60)]
Amount = Annotated[float, Meta(ge=0, le=1e30)]


class Counted(msgspec.Struct, frozen=True):
    """What a session counts. None: not recorded by an older version, or not measurable."""

    seconds: Amount = 0.0
    """Wall seconds spent contributing."""
    samples: Count = 0
    """Computed."""
    rounds: Count = 0
    """Averaging rounds in which this peer's gradients were averaged with others'."""
    failed_rounds: Count = 0
    epochs: Count = 0
    """Epochs with at least one sample of this peer."""
    cpu_seconds: Amount = 0.0
    """Of all processes of the session together."""
    gpu_seconds: Amount = 0.0
    joules: Amount | None = None
    """Measured by the counters of GPU and processor, which include other programs. None: not measured."""
    accepted: Count | None = None
    """Samples that went into an update of the collaboration."""
    flops: Amount | None = None
    """Floating-point operations of matrix products and the like, of the samples computed; None: not counted."""
    processor_joules: Amount | None = None
    """The part of `joules` that the processor's counter (RAPL) measured."""
    estimated_joules: Amount | None = None
    """In addition to `joules`: from watts that the volunteer entered, not measured."""
    peers_met: Count = 0
    """Different peers with which gradients were averaged, each once in a session."""
    averaging_up: Count = 0
    """Bytes sent (up) and received (down) by kind (`core.swarm.traffic.meter.Kind`). The rest of all bytes was counted
    by an older version, without kinds."""
    averaging_down: Count = 0
    state_up: Count = 0
    state_down: Count = 0
    dht_up: Count = 0
    dht_down: Count = 0
    data_up: Count = 0
    data_down: Count = 0


class Given(Counted, frozen=True):
    """With all bytes together."""

    uploaded: Count = 0
    downloaded: Count = 0


GIVEN = Given.__struct_fields__
"""Names of everything that is summed."""
UNCERTAIN = tuple(name for name, default in zip(GIVEN, Given.__struct_defaults__, strict=True) if default is None)
"""Of these, the names that may be unknown; a sum is unknown only if all its parts are."""

AnyGiven = TypeVar("AnyGiven", bound=Given)


def together(first: AnyGiven, others: Iterable[Given]) -> AnyGiven:
    """The sum of all, with the other fields of the first."""
    sums: dict[str, Any] = {name: getattr(first, name) for name in GIVEN}
    for other in others:
        for name in GIVEN:
            more = getattr(other, name)
            if more is not None:
                sums[name] = (sums[name] or 0) + more
    return msgspec.structs.replace(first, **sums)

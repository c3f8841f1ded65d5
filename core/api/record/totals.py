"""What can be given, declared once: by a session so far, in one of its hours, or in years of them together."""

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0, le=1 << 60)]
Amount = Annotated[float, Meta(ge=0, le=1e30)]


class Counted(msgspec.Struct, frozen=True):
    """What a session counts. None: an older program did not record it, or nothing tells."""

    seconds: Amount = 0.0
    """Wall seconds spent contributing."""
    samples: Count = 0
    """Computed."""
    rounds: Count = 0
    """Averaging rounds in which this peer's gradients were averaged with others'."""
    failed_rounds: Count = 0
    epochs: Count = 0
    """Epochs to which this peer gave at least one sample."""
    cpu_seconds: Amount = 0.0
    """Of all processes of the session together."""
    gpu_seconds: Amount = 0.0
    joules: Amount | None = None
    """Measured by the graphics card's and the processor's own counters, everything else on them included. None: not
    measured."""
    accepted: Count | None = None
    """Samples that an update of the collaboration was made of."""
    flops: Amount | None = None
    """Floating-point operations of matrix products and the like, of the samples computed; None: not counted."""
    processor_joules: Amount | None = None
    """The part of `joules` that the processor's counter (RAPL) told."""
    estimated_joules: Amount | None = None
    """Beside `joules`: from watts that were told, not measured."""
    peers_met: Count = 0
    """Different peers with which gradients were averaged, each once in a session."""
    averaging_up: Count = 0
    """Bytes by kind (`core.swarm.traffic.meter.Kind`), sent (up) and fetched (down); what is left of all bytes an older
    program did not tell apart."""
    averaging_down: Count = 0
    state_up: Count = 0
    state_down: Count = 0
    dht_up: Count = 0
    dht_down: Count = 0
    data_up: Count = 0
    data_down: Count = 0


class Given(Counted, frozen=True):
    """With all bytes, of every kind."""

    uploaded: Count = 0
    downloaded: Count = 0


GIVEN = Given.__struct_fields__
"""What is summed up, by its name on every wire and in every table."""
UNCERTAIN = tuple(name for name, default in zip(GIVEN, Given.__struct_defaults__, strict=True) if default is None)
"""Those among them that may be unknown; a sum is unknown only if all its parts are."""

AnyGiven = TypeVar("AnyGiven", bound=Given)


def together(first: AnyGiven, others: Iterable[Given]) -> AnyGiven:
    """All of it, under whatever else stands in the first."""
    sums: dict[str, Any] = {name: getattr(first, name) for name in GIVEN}
    for other in others:
        for name in GIVEN:
            more = getattr(other, name)
            if more is not None:
                sums[name] = (sums[name] or 0) + more
    return msgspec.structs.replace(first, **sums)

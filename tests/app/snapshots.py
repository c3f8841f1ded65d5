"""Snapshots of the states that front ends meet."""

from msgspec.structs import replace

from core.api.message import Message
from core.api.reasons import Kind, Reason, Severity
from core.api.snapshot import Progress, Session, Silence, Snapshot, Today, Traffic, Transfer

NOW = 1_750_000_000.0
"""15 June 2025, 15:06:40 UTC."""

PROGRESS = Progress(
    epoch=1284,
    samples=48_210,
    loss=2.41,
    peers=14,
    samples_per_second=152,
    swarm_samples_per_second=100,
    epoch_samples=2896,
    own_epoch_samples=369,
    target_batch_size=4096,
)

IDLE = Snapshot(state="idle", reasons=(Reason(Kind.NO_PROJECT, False),), version="0.1.0")

STARTING = Snapshot(
    state="starting",
    project="birds",
    pinned="birds",
    project_name="Birdsong",
    wanted=True,
    transfer=Transfer(1_200_000, 3_400_000),
    session=Session(4242, NOW),
)

CONTRIBUTING = Snapshot(
    state="contributing",
    project="birds",
    pinned="birds",
    project_name="Birdsong",
    wanted=True,
    progress=PROGRESS,
    traffic=Traffic(41_200_000, 66_000_000, 262_000, 425_000),
    session=Session(4242, NOW),
    reachability="outgoing",
    today=Today(48_210, 11_520, 37),
    version="0.1.0",
)


SILENT = replace(CONTRIBUTING, silence=Silence(NOW))
"""Its session has not reported since."""


def paused(until: float | None = None) -> Snapshot:
    """By the volunteer, for good or until a time."""
    kind = Kind.PAUSED if until is None else Kind.SNOOZED
    reason = Reason(kind, True, {}, until)
    return Snapshot(
        state="idle", project="birds", pinned="birds", project_name="Birdsong", wanted=True, reasons=(reason,)
    )


UNREACHED = Message("peers_not_reached")


def failed(retry_at: float | None, error: Message = UNREACHED) -> Snapshot:
    """The last session went wrong; without a time, for good."""
    kind, severity = (Kind.GAVE_UP, Severity.PROBLEM) if retry_at is None else (Kind.BACKING_OFF, Severity.NOTICE)
    return Snapshot(
        state="failed",
        project="birds",
        pinned="birds",
        project_name="Birdsong",
        wanted=True,
        error=error,
        retry_at=retry_at,
        reasons=(Reason(kind, False, {"failure": error}, retry_at, severity),),
    )

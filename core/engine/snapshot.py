"""Builds the snapshot from the state of the engine. Pure."""

import os
from importlib import metadata
from typing import cast

import msgspec

from core.api import snapshot as api
from core.api.message import Message
from core.api.project.projects import ProjectInfo
from core.api.reasons import Reason, Severity
from core.api.session import Report
from core.engine.decision.decide import Decision
from core.engine.decision.facts import Failure
from core.engine.decision.states import Failed, Idle, Leaving, Starting, State, Syncing

_ADVISE_AFTER = 4
"""Failures in a row after which waiting alone is unlikely to help."""


def _version() -> str:
    try:
        return metadata.version("idlehive")
    except metadata.PackageNotFoundError:
        return ""


VERSION = _version()


def build_snapshot(
    state: State,
    decision: Decision,
    report: Report | None,
    *,
    project: ProjectInfo | None,
    pinned: str | None = None,
    wanted: bool,
    today: api.Today,
    place: api.Place | None = None,
    pid: int | None,
    started_at: float,
    surroundings: api.Surroundings,
    processor: api.ProcessorUse | None = None,
    gpu: api.GpuUse | None = None,
    data_month: api.DataMonth | None = None,
    zone: str = "UTC",
) -> api.Snapshot:
    """A session's numbers are those of its last report."""
    alive = not isinstance(state, Idle | Failed)
    failure = state.failure if isinstance(state, Failed | Leaving) else None
    return api.Snapshot(
        state=cast("api.State", type(state).__name__.lower()),
        reasons=(*decision.reasons, *_cut_off(report if alive else None)),
        project=project.id if project else None,
        project_name=project.name if project else None,
        pinned=pinned,
        wanted=wanted,
        progress=report.progress if report and alive else api.Progress(),
        traffic=report.traffic if report and alive else api.Traffic(),
        settings=decision.settings,
        schedule=msgspec.structs.replace(decision.schedule, zone=zone),
        surroundings=surroundings,
        processor=processor if report and alive else None,
        gpu=gpu if alive else None,
        data_month=data_month,
        session=api.Session(pid, started_at) if pid is not None and alive else None,
        transfer=state.transfer if isinstance(state, Starting | Syncing) else None,
        catching_up=report.catching_up if report and isinstance(state, Syncing) else None,
        error=_error(failure) if failure else None,
        retry_at=None if failure is None or failure.permanent or isinstance(state, Leaving) else failure.retry_at,
        today=today,
        place=place,
        engine_pid=os.getpid(),
        version=VERSION,
    )


def _error(failure: Failure) -> Message:
    if failure.permanent or failure.failures < _ADVISE_AFTER:
        return failure.error
    return Message("failed_repeatedly", {"failure": failure.error, "times": failure.failures})


def _cut_off(report: Report | None) -> tuple[Reason, ...]:
    """Reported by the session, because reachability changes while it runs."""
    if report is None or not report.cut_off:
        return ()
    return (Reason("offline", hold=True, params={"cause": Message("no_peers")}, severity=Severity.NOTICE),)

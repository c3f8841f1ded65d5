"""Builds the snapshot from the state of the engine. Pure."""

import os
from collections.abc import Callable
from typing import cast

import msgspec

from core.api import snapshot as api
from core.api.message import Message
from core.api.reasons import Reason, Severity
from core.api.session import Report
from core.client.installation import version
from core.engine.decision.decide import Decision
from core.engine.decision.facts import Failure
from core.engine.decision.states import Failed, Idle, Leaving, Starting, State, Syncing, Working

_ADVISE_AFTER = 4
"""Failures in a row after which waiting alone is unlikely to help."""


VERSION = version()


def build_snapshot(
    base: api.Snapshot,
    state: State,
    decision: Decision,
    report: Report | None,
    session: api.Session | None,
    *,
    no_peers: Callable[[], str] = lambda: "no_peers",
) -> api.Snapshot:
    """`base` has what is known without a session. A session's numbers are those of its last report. `no_peers` returns
    the kind of message for a session that reaches nobody."""
    alive = not isinstance(state, Idle | Failed)
    last = report if alive else None
    failure = state.failure if isinstance(state, Failed | Leaving) else None
    return msgspec.structs.replace(
        base,
        state=cast("api.State", type(state).__name__.lower()),
        reasons=(*decision.reasons, *_cut_off(last, no_peers)),
        progress=last.progress if last else api.Progress() if alive else base.progress,
        traffic=last.traffic if last else api.Traffic(),
        settings=decision.settings,
        processor=base.processor if last else None,
        gpu=base.gpu if alive else None,
        session=session if alive else None,
        silence=base.silence if last and isinstance(state, Working) else None,
        reachability=last.reachability if last else None,
        transfer=state.transfer if isinstance(state, Starting | Syncing) else None,
        catching_up=last.catching_up if last and isinstance(state, Syncing) else None,
        error=_error(failure) if failure else None,
        retry_at=None if failure is None or failure.permanent or isinstance(state, Leaving) else failure.retry_at,
        engine_pid=os.getpid(),
        version=VERSION,
    )


def _error(failure: Failure) -> Message:
    if failure.permanent or failure.failures < _ADVISE_AFTER:
        return failure.error
    return Message("failed_repeatedly", {"failure": failure.error, "times": failure.failures})


def _cut_off(report: Report | None, no_peers: Callable[[], str]) -> tuple[Reason, ...]:
    """Reported by the session, because reachability changes while it runs."""
    if report is None or not report.cut_off:
        return ()
    return (Reason("offline", hold=True, params={"cause": Message(no_peers())}, severity=Severity.NOTICE),)

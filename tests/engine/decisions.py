"""States and decisions that the lifecycle is tested with."""

from dataclasses import replace

from core.api.reasons import Kind, Reason
from core.api.session import Report
from core.api.session_settings import SessionSettings
from core.api.snapshot import Transfer
from core.engine.decision.decide import Decision
from core.engine.decision.states import Contributing, Holding, Joining, Starting, Syncing

NOW = 1000.0
LATER = NOW + 100
PAUSED = Reason(Kind.PAUSED, hold=True)
MUST_LEAVE = Reason(Kind.NO_PROJECT, hold=False)
GO = Decision(True, "p", (), SessionSettings())
UNWANTED = replace(GO, wanted=False)
STARTING = Starting("p", LATER)
JOINING = Joining("p", LATER)
SYNCING = Syncing("p", LATER)
CONTRIBUTING = Contributing("p", LATER, since=NOW - 10)
HOLDING = Holding("p", (PAUSED,), since=NOW - 10, obeyed=True)
SESSIONS = (STARTING, JOINING, SYNCING, CONTRIBUTING, HOLDING)


def report(stage: str, transfer: Transfer | None = None) -> Report:
    return Report(stage, transfer=transfer)  # type: ignore[arg-type]  # a Stage by the table

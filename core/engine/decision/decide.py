"""What stands against contributing, and what limits apply: one pure decision without memory.

A new reason is a `Kind`, a row of `WORDING` and a rule; the rule looks at the `Facts` and returns a reason or None.
All rules are always asked, so the answer is complete: a volunteer who ends one reason sees at once which ones remain.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from core.api.preferences.preferences import PREFERENCES, effective_on_gpu, effective_values
from core.api.preferences.schedule import ALWAYS, Level, Outlook, ScheduleState
from core.api.reasons import Kind, Reason, Severity
from core.api.session_settings import SessionSettings
from core.conditions.machine import Readings
from core.engine.decision import gpu_rules, machine_rules, network_rules
from core.engine.decision.intent import Intent
from core.engine.decision.network_rules import NetworkUse
from core.system.backoff import LONGEST_WAIT

DEFAULTS = {name: preference.default for name, preference in PREFERENCES.items()}


@dataclass(frozen=True)
class Failure:
    """Why the last session failed. `failures` counts those in a row, this one included."""

    error: str
    permanent: bool
    failures: int
    retry_at: float

    def is_over(self, now: float) -> bool:
        # A longer wait than the longest means that the clock was set back.
        return not self.permanent and not now < self.retry_at <= now + LONGEST_WAIT


@dataclass(frozen=True)
class Conditions:
    """What the machine and the program are doing, apart from what the volunteer wants."""

    failure: Failure | None = None
    session_gpu: str | None = None
    """UUID of the GPU that the session uses, empty for the processor, None without a session."""
    machine: Readings = field(default_factory=Readings)
    line: NetworkUse = field(default_factory=NetworkUse)
    near_sleep: bool = False
    """The computer is about to sleep."""
    slept: bool = False
    """It has slept since the session began: what the session knows of its peers, and they of it, is out of date."""


@dataclass(frozen=True)
class Membership:
    """The project at hand."""

    project: str
    name: str
    gpu_memory: int = 0
    """Bytes that it needs on a GPU."""
    needs_internet: bool = True
    min_bandwidth: int = 0
    """Bytes per second, in each direction, below which its averaging rounds cannot end in time; 0 until known."""
    has_own_backbone: bool = False
    """All other peers are processes of this program: ceilings, hours and data cap are not about it."""


@dataclass(frozen=True)
class Facts:
    """Everything a rule may look at."""

    intent: Intent
    conditions: Conditions
    membership: Membership | None
    now: float
    preferences: Mapping[str, int] = field(default_factory=lambda: DEFAULTS)
    """What applies now of what the volunteer chose, by plain name."""
    week: Outlook = ALWAYS
    """What the schedule says."""
    uses_gpu: bool = False
    """The session computes on a GPU, or would."""


@dataclass(frozen=True)
class Decision:
    wanted: bool
    """The volunteer wants to contribute, and there is a project for it."""
    project: str | None
    reasons: tuple[Reason, ...]
    """Everything that stands against it now."""
    settings: SessionSettings
    uses_gpu: bool = False
    effective: Mapping[str, int] = field(default_factory=dict)
    """What applies now of all preferences, by plain name; `settings` has those that the trainer needs."""
    schedule: ScheduleState = field(default_factory=ScheduleState)
    failures: int = 0
    """Of the project's earlier sessions in a row, as far as they lie before those that the lifecycle remembers."""

    @property
    def go(self) -> bool:
        return self.wanted and not self.reasons


@dataclass(frozen=True)
class Wording:
    """How a reason reads, and what it asks for. `{detail}` is filled in by the rule."""

    text: str
    hold: bool
    severity: Severity = Severity.QUIET


WORDING: dict[Kind, Wording] = {
    Kind.PAUSED: Wording("You paused contributing.", hold=True),
    Kind.SNOOZED: Wording("You paused contributing for a while.", hold=True),
    # An hour that is off gives everything back: a game in the evening needs the memory, not only the processor.
    Kind.OUTSIDE_SCHEDULE: Wording("Outside the hours of your schedule.", hold=False),
    Kind.IN_USE: Wording(
        "You are using the computer; it goes on when mouse and keyboard have rested for {detail}.", hold=True
    ),
    Kind.FULL_SCREEN: Wording("{detail}.", hold=True),
    Kind.PROGRAM_RUNNING: Wording("You asked Idlehive to wait while this runs: {detail}.", hold=True),
    Kind.ON_BATTERY: Wording("The computer runs on its battery.", hold=True),
    Kind.BATTERY_LOW: Wording("The battery is less than {detail} % full.", hold=False),
    Kind.OFFLINE: Wording("There is no connection to the internet.", hold=True, severity=Severity.NOTICE),
    # A session that only holds still talks to its peers.
    Kind.METERED: Wording("The network is metered.", hold=False),
    Kind.DATA_CAP: Wording("The {detail} that may go over the network in a month are used up.", hold=False),
    Kind.NETWORK_HOURS: Wording("Outside the hours in which the network may be used.", hold=False),
    Kind.NETWORK_TOO_SLOW: Wording(
        "Your limits allow too little bandwidth for this project: it needs at least {detail}.",
        hold=False,
        severity=Severity.PROBLEM,
    ),
    Kind.GPU_TAKEN: Wording("Another program is using the graphics card: {detail}.", hold=True),
    Kind.GPU_HOT: Wording("The graphics card is too warm even at rest: {detail}.", hold=True, severity=Severity.NOTICE),
    Kind.GPU_MISSING: Wording("The graphics card does not answer: {detail}.", hold=False, severity=Severity.PROBLEM),
    Kind.GPU_MEMORY: Wording(
        "Too little memory is free on the graphics card: {detail}.", hold=False, severity=Severity.NOTICE
    ),
    Kind.GPU_CHANGED: Wording("Another graphics card is to be used from now on.", hold=False),
    Kind.GOING_TO_SLEEP: Wording("The computer is going to sleep.", hold=False),
    Kind.WOKEN: Wording("The computer has slept: the session begins anew from the state of its peers.", hold=False),
    Kind.NO_PROJECT: Wording("You have not joined a project yet.", hold=False, severity=Severity.NOTICE),
    Kind.BACKING_OFF: Wording(
        "The last session failed and is tried again soon: {detail}", hold=False, severity=Severity.NOTICE
    ),
    Kind.GAVE_UP: Wording("The session cannot go on without you: {detail}", hold=False, severity=Severity.PROBLEM),
}


def decide(
    intent: Intent,
    preferences: Mapping[str, int],
    conditions: Conditions,
    membership: Membership | None,
    now: float,
    *,
    week: Outlook = ALWAYS,
) -> Decision:
    """All reasons that hold at `now`, in the order of `RULES`, and the limits that apply."""
    effective = effective_values(preferences, gentle=week.level is Level.GENTLE)
    card = gpu_rules.choose(conditions.machine.gpus, effective, conditions.session_gpu)
    if card is not None:
        effective = effective_on_gpu(effective, card.gpu.number)
    uses_gpu = card is not None if conditions.session_gpu is None else bool(conditions.session_gpu)
    settings = gpu_rules.settings_on(
        card, effective, gpu_rules.latency_target(conditions.machine.presence, now, uses_gpu=uses_gpu)
    )
    if membership is not None and membership.has_own_backbone:
        limits = msgspec.structs.replace(settings.limits, upload_limit=0, download_limit=0)
        settings = msgspec.structs.replace(settings, limits=limits)
    facts = Facts(intent, conditions, membership, now, effective, week, uses_gpu)
    return Decision(
        wanted=intent.wanted and membership is not None,
        project=membership.project if membership else None,
        reasons=tuple(reason for rule in RULES if (reason := rule(facts)) is not None),
        settings=settings,
        uses_gpu=uses_gpu,
        effective=effective,
        schedule=ScheduleState(week.level, week.next_level, week.next_at, intent.override, intent.override_until),
    )


def paused(facts: Facts) -> Reason | None:
    return _reason(Kind.PAUSED) if facts.intent.paused else None


def snoozed(facts: Facts) -> Reason | None:
    until = facts.intent.snoozed_until
    return _reason(Kind.SNOOZED, until=until) if until is not None and facts.now < until else None


def outside_schedule(facts: Facts) -> Reason | None:
    # Nothing waits for the next edge if nothing is wanted.
    if not facts.intent.wanted or facts.intent.override or facts.week.level is not Level.OFF:
        return None
    return _reason(Kind.OUTSIDE_SCHEDULE, until=facts.week.next_at)


def _gpu(kind: Kind) -> Callable[[Facts], Reason | None]:
    """The rule for one of the things that may stand against using a GPU."""

    def rule(facts: Facts) -> Reason | None:
        if not facts.intent.wanted:
            return None
        conditions, needs = facts.conditions, facts.membership.gpu_memory if facts.membership else 0
        found = gpu_rules.objections(
            conditions.machine.gpus, facts.preferences, conditions.session_gpu, needs, facts.now
        )
        return next((_reason(kind, detail.rstrip("."), hold=hold) for k, detail, hold in found if k is kind), None)

    return rule


def _machine(kind: Kind) -> Callable[[Facts], Reason | None]:
    """The rule for one of the things that the machine may be doing."""

    def rule(facts: Facts) -> Reason | None:
        if not facts.intent.wanted:
            return None
        found = machine_rules.objections(
            facts.conditions.machine,
            facts.preferences,
            facts.now,
            uses_gpu=facts.uses_gpu,
            needs_internet=facts.membership is not None and facts.membership.needs_internet,
        )
        return next((_reason(kind, detail, hold=hold) for k, detail, hold in found if k is kind), None)

    return rule


def _line(kind: Kind) -> Callable[[Facts], Reason | None]:
    """The rule for one of the things that the line may not be used for."""

    def rule(facts: Facts) -> Reason | None:
        project = facts.membership
        if not facts.intent.wanted or (project is not None and project.has_own_backbone):
            return None
        slowest = project.min_bandwidth if project is not None else 0
        found = network_rules.objections(facts.conditions.line, facts.preferences, slowest)
        return next((_reason(kind, detail, until) for k, detail, until in found if k is kind), None)

    return rule


def going_to_sleep(facts: Facts) -> Reason | None:
    return _reason(Kind.GOING_TO_SLEEP) if facts.intent.wanted and facts.conditions.near_sleep else None


def woken(facts: Facts) -> Reason | None:
    return _reason(Kind.WOKEN) if facts.intent.wanted and facts.conditions.slept else None


def no_project(facts: Facts) -> Reason | None:
    return _reason(Kind.NO_PROJECT) if facts.membership is None else None


def backing_off(facts: Facts) -> Reason | None:
    failure = facts.conditions.failure
    if failure is None or failure.permanent or failure.is_over(facts.now):
        return None
    return _reason(Kind.BACKING_OFF, failure.error, failure.retry_at)


def gave_up(facts: Facts) -> Reason | None:
    failure = facts.conditions.failure
    return _reason(Kind.GAVE_UP, failure.error) if failure is not None and failure.permanent else None


RULES: tuple[Callable[[Facts], Reason | None], ...] = (
    paused,
    snoozed,
    outside_schedule,
    *(_machine(kind) for kind in (Kind.IN_USE, Kind.FULL_SCREEN, Kind.PROGRAM_RUNNING, Kind.ON_BATTERY)),
    *(_machine(kind) for kind in (Kind.BATTERY_LOW, Kind.OFFLINE, Kind.METERED)),
    *(_line(kind) for kind in (Kind.DATA_CAP, Kind.NETWORK_HOURS, Kind.NETWORK_TOO_SLOW)),
    *(_gpu(kind) for kind in (Kind.GPU_TAKEN, Kind.GPU_HOT, Kind.GPU_MISSING, Kind.GPU_MEMORY, Kind.GPU_CHANGED)),
    going_to_sleep,
    woken,
    no_project,
    gave_up,
    backing_off,
)


def _reason(kind: Kind, detail: str = "", until: float | None = None, *, hold: bool = True) -> Reason:
    wording = WORDING[kind]
    # Not str.format: an error's own braces must not be read as fields.
    text = wording.text.replace("{detail}", detail)
    return Reason(kind, wording.hold and hold, text, until, wording.severity)

"""All reasons not to contribute now, and the limits that apply. Pure.

A new reason is a `yield` in the rules of its area, and its words in `app.text.wordings.reasons`. Every rule is always
evaluated, so a volunteer who removes one reason sees at once which ones remain.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from core.api.preferences.effective import effective_on_gpu, effective_values
from core.api.preferences.preferences import Values
from core.api.preferences.schedule import ALWAYS, Level, Outlook, ScheduleState
from core.api.reasons import Kind, Reason
from core.api.session_settings import SessionSettings
from core.engine.decision.facts import Conditions, Facts, Membership
from core.engine.decision.intent import Intent
from core.engine.decision.rules import gpu_rules, machine_rules, network_rules, session_rules, volunteer_rules

Rule = Callable[[Facts], Iterator[Reason]]
RULES: tuple[Rule, ...] = (
    volunteer_rules.reasons,
    machine_rules.reasons,
    network_rules.reasons,
    gpu_rules.reasons,
    session_rules.reasons,
)


@dataclass(frozen=True)
class Decision:
    wanted: bool
    """The volunteer wants to contribute, and there is a project."""
    project: str | None
    reasons: tuple[Reason, ...]
    """Reasons not to contribute now, in the order of `RULES`."""
    settings: SessionSettings
    uses_gpu: bool = False
    effective: Values = field(default_factory=dict)
    """Effective values of all preferences, by plain name; `settings` has those that the trainer needs."""
    schedule: ScheduleState = field(default_factory=ScheduleState)
    failures: int = 0
    """Failures in a row of the project's sessions, before those that the lifecycle remembers."""

    @property
    def go(self) -> bool:
        return self.wanted and not self.reasons

    @property
    def waits_for_sleep_alone(self) -> bool:
        """Sleep is the only reason not to contribute."""
        kinds = {reason.kind for reason in self.reasons}
        return self.wanted and bool(kinds) and kinds <= {Kind.GOING_TO_SLEEP, Kind.WOKEN}


def decide(
    intent: Intent,
    preferences: Values,
    conditions: Conditions,
    membership: Membership | None,
    now: float,
    *,
    week: Outlook = ALWAYS,
) -> Decision:
    """All reasons at `now`, and the limits that apply."""
    effective = effective_values(preferences, gentle=week.level is Level.GENTLE)
    card = gpu_rules.choose(conditions.machine.gpus, effective, conditions.session_gpu)
    if card is not None:
        effective = effective_on_gpu(effective, card.gpu.number)
    facts = Facts(intent, conditions, membership, now, effective, week, card)
    return Decision(
        wanted=intent.wanted and membership is not None,
        project=membership.project if membership else None,
        reasons=tuple(reason for rule in RULES for reason in rule(facts) if reason.kind not in intent.anyway),
        settings=_settings(facts),
        uses_gpu=facts.uses_gpu,
        effective=effective,
        schedule=ScheduleState(week.level, week.next_level, week.next_at, intent.override, intent.override_until),
    )


def _settings(facts: Facts) -> SessionSettings:
    presence = facts.conditions.machine.presence
    target = gpu_rules.latency_target(presence, facts.now, uses_gpu=facts.uses_gpu)
    settings = gpu_rules.settings_on(facts.gpu, facts.effective, target)
    if facts.membership is None or not facts.membership.has_own_backbone:
        return settings
    limits = msgspec.structs.replace(settings.limits, upload_limit=0, download_limit=0)
    return msgspec.structs.replace(settings, limits=limits)

"""Every reason, alone and beside every other one."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from app.text import reasons
from app.text.wordings.reasons import REASONS
from core.api.message import Message
from core.api.preferences.preferences import PREFERENCES
from core.api.preferences.schedule import Level, Outlook
from core.api.reasons import Kind
from core.api.session_settings import Limits
from core.conditions.full_screen import FullScreen
from core.conditions.gpu import GpuState, GpuStates
from core.conditions.machine import Readings
from core.conditions.network import Network
from core.conditions.nvml import Gpu
from core.conditions.power import Power
from core.conditions.presence import Presence
from core.conditions.processor import Processor
from core.conditions.programs import RunningPrograms
from core.engine.decision.decide import RULES, Decision, decide
from core.engine.decision.facts import Conditions, Facts, Failure, Membership, NetworkUse
from core.engine.decision.intent import Intent, read
from core.engine.decision.rules import gpu_rules

NOW = 1_000_000.0
DEFAULTS = {name: preference.default for name, preference in PREFERENCES.items()}
MEMBERSHIP = Membership("p")
GPU = Gpu(0, "GPU-0", "Pretended GPU", memory_total=8 << 30, memory_used=1 << 30)
BACKING_OFF = Failure(Message("peers_not_reached"), permanent=False, failures=1, retry_at=NOW + 5)
GAVE_UP = Failure(Message("memory_full"), permanent=True, failures=1, retry_at=NOW + 5)

GOOD = Facts(Intent(wanted=True), Conditions(), MEMBERSHIP, NOW)
CAUSES: dict[str, dict[str, Any]] = {
    Kind.PAUSED: {"intent": {"paused": True}},
    Kind.SNOOZED: {"intent": {"snoozed_until": NOW + 60}},
    Kind.OUTSIDE_SCHEDULE: {"week": Outlook(Level.OFF, Level.FULL, NOW + 1800)},
    "in_use": {"machine": {"presence": Presence(NOW - 59)}, "preferences": {"idle_processor": 60, "idle_gpu": 60}},
    "full_screen": {"machine": {"full_screen": FullScreen(Message("screen_filled_by", {"program": "Doom"}))}},
    "program_running": {"machine": {"programs": RunningPrograms(("doom", "quake"))}},
    "processor_busy": {"machine": {"processor": Processor(80)}},
    "on_battery": {"machine": {"power": Power(on_battery=True, level=80)}, "preferences": {"on_battery": 0}},
    "battery_low": {"machine": {"power": Power(on_battery=True, level=49)}, "preferences": {"on_battery": 1}},
    "metered": {"machine": {"network": Network(online=True, metered=True)}},
    "offline": {"machine": {"network": Network(online=False)}},
    "data_cap": {"line": {"used": 1 << 30, "month_ends": NOW + 9000}, "preferences": {"data_cap": 1 << 30}},
    "network_hours": {"line": {"open": False, "next_edge": NOW + 900}},
    "network_too_slow": {"min_bandwidth": 600_000, "preferences": {"upload_limit": 125_000}},
    "gpu_taken": {"gpu": {"taken_by": ("game",), "taken_since": NOW - 1}},
    "gpu_hot": {"gpu": {"coolest": 90}},
    "gpu_missing": {"gpu": {}, "in_use": "GPU-gone"},
    "gpu_memory": {"gpu": {}, "needs": 16 << 30},
    "gpu_changed": {"gpu": {}, "in_use": ""},
    Kind.GOING_TO_SLEEP: {"conditions": {"near_sleep": True}},
    Kind.WOKEN: {"conditions": {"slept": True}},
    "no_compute_runtime": {"conditions": {"compute_ready": False}},
    Kind.NO_PROJECT: {"membership": None},
    Kind.BACKING_OFF: {"failure": BACKING_OFF},
    Kind.GAVE_UP: {"failure": GAVE_UP},
}
"""What makes each reason hold."""
HOLD = {
    Kind.PAUSED,
    Kind.SNOOZED,
    "in_use",
    "full_screen",
    "program_running",
    "processor_busy",
    "on_battery",
    "offline",
    "gpu_taken",
    "gpu_hot",
}
UNTIL = {
    Kind.SNOOZED: NOW + 60,
    Kind.OUTSIDE_SCHEDULE: NOW + 1800,
    "data_cap": NOW + 9000,
    "network_hours": NOW + 900,
    Kind.BACKING_OFF: NOW + 5,
}


def facts_of(*kinds: str) -> Facts:
    causes = [CAUSES[kind] for kind in kinds]
    intent = Intent(wanted=True, **{k: v for cause in causes for k, v in cause.get("intent", {}).items()})
    failures_by_project = [cause["failure"] for cause in causes if "failure" in cause]
    no_membership = any("membership" in cause for cause in causes)
    failure = failures_by_project[0] if failures_by_project else None
    week = next((cause["week"] for cause in causes if "week" in cause), Outlook())
    needs = max(cause.get("needs", 0) for cause in causes)
    slowest = max(cause.get("min_bandwidth", 0) for cause in causes)
    membership = None if no_membership else replace(MEMBERSHIP, gpu_memory=needs, min_bandwidth=slowest)
    line = NetworkUse(**{k: v for cause in causes for k, v in cause.get("line", {}).items()})
    of_gpu = gpu_conditions(causes)
    machine = replace(readings(causes), gpus=of_gpu.machine.gpus)
    others = {name: value for cause in causes for name, value in cause.get("conditions", {}).items()}
    conditions = Conditions(failure, of_gpu.session_gpu, machine, line, **others)
    return Facts(intent, conditions, membership, NOW, chosen(causes), week=week)


def chosen(causes: list[dict[str, Any]]) -> dict[str, int]:
    """The preferences under which the causes count: of two, the stricter one."""
    own = [cause.get("preferences", {}) for cause in causes]
    return {**DEFAULTS, **{name: min(of[name] for of in own if name in of) for of in own for name in of}}


def readings(causes: list[dict[str, Any]]) -> Readings:
    """All that the causes say of the machine; where two speak of the same, the worse of it."""
    said = [cause["machine"] for cause in causes if "machine" in cause]
    together = {name: value for values in said for name, value in values.items()}
    networks = [values["network"] for values in said if "network" in values]
    if len(networks) == 2:
        together["network"] = Network(online=False, metered=True)
    return Readings(**together)


def gpu_conditions(causes: list[dict[str, Any]]) -> Conditions:
    """A card with all that the causes say of it, and one that is gone."""
    of_gpu = [cause["gpu"] for cause in causes if "gpu" in cause]
    if not of_gpu:
        return Conditions()
    present = GpuState(GPU, **{name: value for cause in of_gpu for name, value in cause.items()})
    in_use = next((cause["in_use"] for cause in causes if "in_use" in cause), None)
    states = GpuStates((present,), (replace(GPU, number=1, uuid="GPU-gone"),), None, True)
    return Conditions(session_gpu=in_use, machine=Readings(gpus=states))


def decided(facts: Facts) -> Decision:
    return decide(facts.intent, facts.effective, facts.conditions, facts.membership, facts.now, week=facts.week)


def kinds(facts: Facts) -> set[str]:
    return {reason.kind for reason in decided(facts).reasons}


def test_nothing_stands_against_a_volunteer_in_a_project() -> None:
    decision = decide(GOOD.intent, DEFAULTS, GOOD.conditions, GOOD.membership, NOW)
    assert (decision.go, decision.project, decision.reasons) == (True, "p", ())


def test_every_reason_has_a_cause_here() -> None:
    assert CAUSES.keys() == REASONS.keys()


@pytest.mark.parametrize("kind", CAUSES)
def test_every_reason_has_one_rule(kind: str) -> None:
    facts = facts_of(kind)
    card = gpu_rules.choose(facts.conditions.machine.gpus, facts.effective, facts.conditions.session_gpu)
    assert sum(bool(list(rule(replace(facts, gpu=card)))) for rule in RULES) == 1


@pytest.mark.parametrize("kind", CAUSES)
def test_each_reason_holds_by_its_cause_with_its_words_and_end(kind: str) -> None:
    facts = facts_of(kind)
    decision = decided(facts)
    (reason,) = decision.reasons
    assert (reason.kind, reason.hold, reason.until) == (kind, kind in HOLD, UNTIL.get(kind))
    assert reasons.sentence(reason).endswith(".")
    assert not set("{}…") & set(reasons.sentence(reason))
    assert not decision.go


NO_INTERNET_NEEDED = {"metered", "offline", "network_too_slow"}
EXCLUSIVE = [
    {Kind.BACKING_OFF, Kind.GAVE_UP},
    {"gpu_missing", "gpu_changed"},
    {Kind.NO_PROJECT, "gpu_memory"},
    *({Kind.NO_PROJECT, kind} for kind in NO_INTERNET_NEEDED),
]
"""One session cannot have failed for good and for now, nor lose a card that it does not use; and only a project needs
memory or the internet."""


@pytest.mark.parametrize("pair", [pair for pair in combinations(CAUSES, 2) if set(pair) not in EXCLUSIVE], ids="+".join)
def test_two_reasons_are_both_told(pair: tuple[str, str]) -> None:
    assert kinds(facts_of(*pair)) == set(pair)


def test_a_failure_is_in_the_reason_with_its_own_braces() -> None:
    error = Message("gpu_failed", {"detail": "It said {detail} {0}."})
    failure = Failure(error, permanent=False, failures=1, retry_at=NOW + 5)
    (reason,) = decide(GOOD.intent, DEFAULTS, Conditions(failure), MEMBERSHIP, NOW).reasons
    assert reason.params == {"failure": error}
    assert reasons.sentence(reason).endswith("It said {detail} {0}.")


def test_a_snooze_is_over_at_its_very_end() -> None:
    assert kinds(Facts(Intent(wanted=True, snoozed_until=NOW), Conditions(), MEMBERSHIP, NOW)) == set()


@pytest.mark.parametrize(
    ("retry_at", "holds"), [(NOW + 1, True), (NOW, False), (NOW + 600, True), (NOW + 86_400, False)]
)
def test_a_retry_is_waited_for_but_not_for_ever_if_the_clock_was_set_back(retry_at: float, holds: bool) -> None:
    failure = Failure(Message("session_ended"), permanent=False, failures=1, retry_at=retry_at)
    assert kinds(Facts(GOOD.intent, Conditions(failure), MEMBERSHIP, NOW)) == ({Kind.BACKING_OFF} if holds else set())


def test_without_intent_or_project_nothing_is_wanted() -> None:
    assert not decide(Intent(), DEFAULTS, Conditions(), MEMBERSHIP, NOW).wanted
    assert not decide(Intent(wanted=True), DEFAULTS, Conditions(), None, NOW).wanted


def test_the_practice_project_is_not_about_the_line() -> None:
    practice = replace(MEMBERSHIP, has_own_backbone=True, min_bandwidth=600_000)
    line = NetworkUse(used=1 << 40, open=False)
    chosen = {**DEFAULTS, "upload_limit": 125_000, "data_cap": 1 << 30}
    decision = decide(GOOD.intent, chosen, Conditions(network=line), practice, NOW)
    assert decision.reasons == ()
    assert decision.settings.limits.upload_limit == 0
    assert decision.effective["upload_limit"] == 125_000


def test_a_project_that_is_too_heavy_names_what_it_needs_and_what_it_would_get() -> None:
    heavy = replace(MEMBERSHIP, min_bandwidth=600_000)
    chosen = {**DEFAULTS, "upload_limit": 125_000, "download_limit": 600_000}
    (reason,) = decide(GOOD.intent, chosen, Conditions(), heavy, NOW).reasons
    assert reason.params == {"cause": Message("upload_too_slow", {"needed": 600_000, "allowed": 125_000})}


def test_limits_are_the_preferences() -> None:
    assert decide(Intent(), {**DEFAULTS, "threads": 3}, Conditions(), None, NOW).settings.limits == Limits(threads=3)


@pytest.mark.parametrize(("level", "threads"), [(Level.FULL, 0), (Level.GENTLE, 1), (Level.OFF, 0)])
def test_gentle_hours_have_limits_of_their_own(level: Level, threads: int) -> None:
    decision = decide(GOOD.intent, DEFAULTS, Conditions(), MEMBERSHIP, NOW, week=Outlook(level))
    assert decision.settings.limits.threads == decision.effective["threads"] == threads


OFF = Outlook(Level.OFF, Level.GENTLE, NOW + 60)


@pytest.mark.parametrize(
    "intent", [Intent(), Intent(wanted=True, override=True), Intent(wanted=True, override=True, override_until=NOW + 5)]
)
def test_hours_that_are_off_stand_against_nothing_that_is_not_wanted_or_overridden(intent: Intent) -> None:
    decision = decide(intent, DEFAULTS, Conditions(), MEMBERSHIP, NOW, week=OFF)
    assert decision.reasons == ()
    assert (decision.schedule.level, decision.schedule.next_at) == (Level.OFF, NOW + 60)
    assert (decision.schedule.overridden, decision.schedule.override_until) == (intent.override, intent.override_until)


class TestIntent:
    def test_an_override_ends_by_itself_and_with_what_it_was_for(self) -> None:
        overriding = Intent(wanted=True).contribute(None, NOW + 5, None, week=OFF)
        assert overriding == Intent(wanted=True, override=True, override_until=NOW + 5)
        assert overriding.at(NOW + 4.9) == overriding
        assert overriding.at(NOW + 5) == Intent(wanted=True)
        assert overriding.fulfilled() == Intent()

    def test_contributing_for_a_while_without_having_done_so_before_is_over_then(self) -> None:
        begun = Intent().contribute(None, NOW + 5, None, week=OFF)
        assert begun == Intent(wanted=True, stop_at=NOW + 5, override=True, override_until=NOW + 5)
        assert begun.at(NOW + 5) == Intent()

    def test_contributing_again_clears_pause_and_earlier_goals(self) -> None:
        before = Intent(wanted=False, project="a", paused=True, snoozed_until=5.0, stop_at=6.0, until_epoch=7)
        assert before.contribute("b", None, None) == Intent(wanted=True, project="b")

    def test_a_pause_replaces_the_one_before(self) -> None:
        assert Intent().pause(NOW).pause(None) == Intent(paused=True)
        assert Intent().pause(None).pause(NOW) == Intent(snoozed_until=NOW)

    def test_what_ends_by_itself_is_gone_when_its_time_is_over(self) -> None:
        intent = Intent(wanted=True, snoozed_until=NOW, stop_at=NOW + 1)
        assert intent.at(NOW - 1) == intent
        assert intent.at(NOW) == Intent(wanted=True, stop_at=NOW + 1)
        assert intent.at(NOW + 1) == Intent()

    def test_leaving_the_project_that_was_asked_for_ends_the_intent(self) -> None:
        assert Intent(wanted=True, project="a").without("a") == Intent()
        assert Intent(wanted=True, project=None).without("a") == Intent(wanted=True)

    @pytest.mark.parametrize("text", [None, "", "{", "[]", '{"wanted": 5}'])
    def test_what_cannot_be_read_is_no_intent(self, text: str | None) -> None:
        assert read(text) == Intent()

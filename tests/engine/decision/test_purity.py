"""Deciding changes nothing and asks each rule once; `update` alone writes what follows from it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.api.intent import Contribute, Pause
from core.api.preferences.commands import SetPreference
from core.api.preferences.preferences import DEFAULTS
from core.api.preferences.schedule import ALWAYS
from core.api.reasons import Reason
from core.engine.decision import decide as deciding
from core.engine.decision.decide import Rule
from core.engine.decision.facts import Conditions, Facts, Membership
from core.engine.decision.intent import Intent
from core.engine.decision.observation import Observation, decide_among
from core.engine.decision.project_selection import SETTLED, Choice, Selection
from core.engine.decision.rules import network_rules
from core.engine.decision.states import Contributing
from tests.engine.world import NIGHT, World, a_world

Play = Callable[[Callable[[World], Awaitable[None]]], None]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    def run(scenario: Callable[[World], Awaitable[None]]) -> None:
        async def whole() -> None:
            async with a_world(tmp_path, monkeypatch, "f" * 336) as world:
                await scenario(world)

        asyncio.run(whole())

    return run


def test_deciding_writes_nothing_and_update_writes_what_has_ended(play: Play) -> None:
    async def scenario(world: World) -> None:
        engine = world.engine
        await world.tell(Contribute())
        await world.tell(Pause(60.0))
        stored = engine.store.journal.read_setting("intent")
        world.now += 61.0
        engine._seen = engine._observe(world.now)
        decision, _ = engine._decide()
        assert decision.wanted
        assert engine.intent.snoozed_until is not None
        assert engine.store.journal.read_setting("intent") == stored
        engine.update()
        assert engine.intent.snoozed_until is None
        assert engine.store.journal.read_setting("intent") != stored

    play(scenario)


def test_the_selection_of_a_project_is_a_value_in_and_a_value_out() -> None:
    # The first cannot run any more: the second is the better one, and takes over in a minute.
    slow, fast = Membership("a", min_bandwidth=10**9), Membership("b")
    chosen = {**DEFAULTS, "upload_limit": 1000}
    seen = Observation(NIGHT, Intent(wanted=True), chosen, ALWAYS, (slow, fast), Conditions())
    before, state = Selection(Choice("a")), Contributing("a", 0.0)
    waiting = decide_among(seen, before, state)
    assert decide_among(seen, before, state) == waiting
    assert (before, waiting[0].project) == (Selection(Choice("a")), "a")
    later = replace(seen, now=NIGHT + SETTLED)
    assert decide_among(later, before, state)[0].project == "a", "nothing was remembered elsewhere"
    assert decide_among(later, waiting[1], state)[0].project == "b"


def test_each_rule_runs_once_for_a_decision_and_network_use_once_for_an_update(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()

    def counted(rule: Rule) -> Rule:
        def reasons(facts: Facts) -> Iterator[Reason]:
            calls[rule.__module__] += 1
            return rule(facts)

        return reasons

    use = network_rules.network_use

    def counted_use(*given: object) -> object:
        calls["use"] += 1
        return use(*given)  # type: ignore[arg-type]  # what the engine gives

    async def scenario(world: World) -> None:
        await world.tell(SetPreference("data_cap", 10**9))
        await world.tell(Contribute())
        await world.tell(Pause())
        await world.until("idle")
        rules = tuple(counted(rule) for rule in deciding.RULES)
        monkeypatch.setattr(deciding, "RULES", rules)
        monkeypatch.setattr(network_rules, "network_use", counted_use)
        world.engine.update()
        assert set(calls.values()) == {1}
        assert len(calls) == len(rules) + 1

    play(scenario)

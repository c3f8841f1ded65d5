"""What a command borrows is given back, whatever else is asked in the meantime and however it ends."""

from functools import partial

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from core.api.intent import Contribute, GiveBack
from core.api.preferences.schedule import ALWAYS, Level, Outlook
from core.engine.decision.intent import Intent, read
from tests.engine.world import NIGHT, Play, World

NOW = 1_000_000.0
WEEKS = ALWAYS, Outlook(Level.OFF, Level.FULL, NOW + 500.0), Outlook(Level.GENTLE, Level.OFF, NOW + 50.0)

lengths = st.sampled_from([None, 10.0, 100.0, 1000.0])
projects = st.sampled_from([None, "a", "b"])
overrides = st.sampled_from(["next_edge", "resumed", "none"])
Step = tuple[str, object, object, object, object]
own: SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("contribute"), projects, lengths, overrides, st.sampled_from(WEEKS)),
    st.tuples(st.just("pause"), lengths, st.none(), st.none(), st.none()),
    st.tuples(st.sampled_from(["resume", "wait"]), lengths, st.none(), st.none(), st.none()),
    st.tuples(st.just("leave"), st.sampled_from(["a", "b"]), st.none(), st.none(), st.none()),
)
borrowing: SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("borrow"), projects, lengths, overrides, st.sampled_from(WEEKS)),
    st.tuples(st.just("borrow to epoch"), projects, st.integers(1, 5), st.none(), st.none()),
    st.tuples(st.just("epoch"), st.integers(1, 5), st.none(), st.none(), st.none()),
    st.tuples(st.just("give back"), st.integers(1, 5), st.none(), st.none(), st.none()),
)


def own_command(intent: Intent, step: Step, now: float) -> Intent:
    """The intent after a command that borrows nothing; others leave it as it is."""
    match step:
        case ("contribute", project, seconds, override, week):
            until = None if seconds is None else now + seconds  # type: ignore[operator]
            return intent.contribute(project, until, None, override=override, week=week)  # type: ignore[arg-type]
        case ("pause", seconds, *_):
            return intent.pause(None if seconds is None else now + seconds)  # type: ignore[operator]
        case ("resume", *_):
            return intent.resume()
        case ("leave", project, *_):
            return intent.without(str(project))
    return intent


def any_command(intent: Intent, step: Step, now: float, number: int) -> Intent:
    match step:
        case ("borrow", project, seconds, override, week):
            until = None if seconds is None else now + seconds  # type: ignore[operator]
            borrow = partial(intent.contribute, project, until, None, borrow=number)  # type: ignore[arg-type]
            return borrow(override=override, week=week)  # type: ignore[arg-type]
        case ("borrow to epoch", project, epoch, *_):
            return intent.contribute(project, None, epoch, borrow=number)  # type: ignore[arg-type]
        case ("epoch", epoch, *_):
            return intent.reached(epoch, intent.project)  # type: ignore[arg-type]
        case ("give back", which, *_):
            return intent.given_back(number - which)  # type: ignore[operator]
    return own_command(intent, step, now)


@given(st.lists(st.one_of(own, borrowing), max_size=20))
@settings(max_examples=500)
def test_afterwards_all_is_as_if_nothing_had_been_borrowed(steps: list[Step]) -> None:
    real = plain = Intent()
    now = NOW
    for number, step in enumerate(steps, 1):
        if step[0] == "wait":
            now += step[1] or 1.0  # type: ignore[operator]
        real, plain = real.at(now), plain.at(now)
        real, plain = any_command(real, step, now, number), own_command(plain, step, now)
        assert real.own == plain
        assert plain.before is None
    # Also when the engine ends in between.
    assert read(msgspec.json.encode(real).decode()) == plain


def test_the_engine_alone_keeps_the_goal_and_counts_it(play: Play) -> None:
    async def scenario(world: World) -> None:
        before = await world.tell(Contribute(seconds=60.0))
        borrowed = await world.tell(Contribute("practice", until_epoch=3, borrow=True))
        assert (borrowed.borrowed, borrowed.goals_reached) == (True, 0)
        await world.wait_for(lambda: world.engine.snapshot().goals_reached == 1)
        after = world.engine.snapshot()
        assert (after.borrowed, after.wanted, after.pinned) == (False, before.wanted, None)
        assert (await world.tell(Contribute(seconds=30.0, borrow=True))).borrowed
        world.now = NIGHT + 31
        world.engine.update()
        assert (world.engine.snapshot().borrowed, world.engine.snapshot().goals_reached) == (False, 2)
        assert (await world.tell(GiveBack(2))).wanted

    play(scenario)


def test_two_that_borrow_are_both_served(play: Play) -> None:
    async def scenario(world: World) -> None:
        await world.tell(Contribute("practice", until_epoch=10_000, borrow=True))
        second = await world.tell(Contribute(seconds=60.0, borrow=True))
        assert (second.borrowings, second.goals) == ((2, 1), ())
        world.now = NIGHT + 61
        world.engine.update()
        first = world.engine.snapshot()
        assert (first.borrowings, first.goals, first.pinned, first.wanted) == ((1,), (2,), "practice", True)
        after = await world.tell(GiveBack(1))
        assert (after.borrowings, after.goals, after.wanted) == ((), (2,), False)

    play(scenario)


def test_one_that_waits_ends_when_its_own_goal_is_reached() -> None:
    first = Intent().contribute("a", None, 3, borrow=1)
    assert first.contribute("a", None, 5, borrow=2).reached(3, "a").borrowed == (2,)
    assert first.contribute("b", None, 5, borrow=2).reached(3, "b").borrowed == (2, 1), "another run"
    assert first.reached(3, "b") == first, "the session that leaves is still that of another one"
    both = first.contribute("a", None, 2, borrow=2)
    assert both.reached(4, "a") == Intent()
    assert both.given_back(1).borrowed == (2,)
    assert both.given_back(1).given_back(2) == Intent()

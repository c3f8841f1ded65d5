"""The control law against a small model of a GPU, and the throttle with clock and sensor of the test's own."""

import statistics
from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.api.session_settings import Limits
from core.conditions.nvml import Gpu
from core.trainer.machine.throttle import LONGEST_REST, Ceilings, Memory, Reading, Throttle, rest
from tests.trainer.thermal_model import Model, Moment, simulate

SETTLED = 300
"""Seconds after which the heat sink of the model is nearly as warm as it gets."""
MICROBATCHES = [0.02, 0.1, 0.4]


def longest_above(ceiling: float, values: list[float]) -> int:
    """Seconds in a row."""
    return max((len(list(run)) for above, run in groupby(values, lambda v: v > ceiling) if above), default=0)


def run(ceilings: Ceilings, microbatch: float, model: Model | None = None) -> list[Moment]:
    return list(simulate(model or Model(), ceilings, 500.0, microbatch))


def test_without_ceilings_there_is_no_rest() -> None:
    assert statistics.mean(moment.duty for moment in run(Ceilings(), 0.1)) == pytest.approx(1.0)


@pytest.mark.parametrize("microbatch", MICROBATCHES)
@pytest.mark.parametrize("share", [0.05, 0.25, 0.5, 0.8, 0.95])
def test_the_share_of_time_is_kept_exactly(share: float, microbatch: float) -> None:
    moments = run(Ceilings(share), microbatch)
    assert statistics.mean(moment.duty for moment in moments) == pytest.approx(share, rel=0.03)
    tens = [statistics.mean(m.duty for m in moments[at : at + 10]) for at in range(0, 490, 10)]
    assert max(tens) <= share + microbatch / 10 + 0.02


@pytest.mark.parametrize("microbatch", MICROBATCHES)
@pytest.mark.parametrize("ceiling", [50.0, 60.0, 70.0, 80.0])
def test_the_temperature_stays_under_its_ceiling_with_little_wobble(ceiling: float, microbatch: float) -> None:
    moments = run(Ceilings(temperature=ceiling), microbatch)
    assert longest_above(ceiling, [moment.temperature for moment in moments]) <= 2
    settled = [moment.temperature for moment in moments[SETTLED:]]
    assert max(settled) - min(settled) <= 3.0
    # Not colder than it has to be either: what may be used is used.
    assert statistics.mean(settled) >= ceiling - 7.0


@pytest.mark.parametrize("microbatch", MICROBATCHES)
@pytest.mark.parametrize("ceiling", [100.0, 150.0, 200.0])
def test_the_power_stays_under_its_ceiling_with_little_wobble(ceiling: float, microbatch: float) -> None:
    moments = run(Ceilings(power=ceiling), microbatch)
    assert longest_above(ceiling, [moment.power for moment in moments]) <= 3
    settled = [statistics.mean(m.power for m in moments[at : at + 5]) for at in range(SETTLED, 490, 5)]
    assert max(settled) <= ceiling
    assert statistics.mean(settled) >= 0.75 * ceiling


def test_a_gpu_that_tells_no_power_limit_warms_up_carefully_and_still_uses_what_it_may() -> None:
    moments = run(Ceilings(power=150.0), 0.1, Model(power_limit=0.0))
    assert longest_above(150.0, [moment.power for moment in moments]) <= 3
    assert statistics.mean(m.power for m in moments[SETTLED:]) >= 100.0


def test_a_lowered_ceiling_counts_within_seconds() -> None:
    model, memory = Model(), Memory()
    for ceiling in (250.0, 100.0):
        for _ in range(200):
            model.run(0.1, busy=True)
            pause, memory = rest(Ceilings(power=ceiling), model.read(), 0.1, 0.1, memory)
            while pause >= 0.005:
                model.run(pause, busy=False)
                pause, memory = rest(Ceilings(power=ceiling), model.read(), 0.0, pause, memory)
            if ceiling == 100.0 and _ == 25:
                assert model.power <= 100.0
    assert model.power <= 100.0


def test_a_gpu_over_its_ceiling_rests_until_it_has_cooled_by_some_degrees() -> None:
    def pause(temperature: float, memory: Memory) -> tuple[float, Memory]:
        return rest(Ceilings(temperature=80.0), Reading(temperature), 0.0, 1.0, memory)

    seconds, memory = pause(81.0, Memory())
    assert (seconds, memory.cooling) == (LONGEST_REST, True)
    assert pause(77.0, memory)[0] == LONGEST_REST
    seconds, memory = pause(76.0, memory)
    assert (seconds, memory.cooling) == (0.0, False)


def test_what_the_sensor_does_not_tell_does_not_stand_in_the_way() -> None:
    assert rest(Ceilings(temperature=80.0), Reading(None, None, None), 0.1, 0.1, Memory())[0] == 0.0


numbers = st.none() | st.floats(0, 200)


@settings(max_examples=300)
@given(
    share=st.floats(0.05, 1.0),
    degrees=numbers,
    watts=st.none() | st.floats(20, 2000),
    reading=st.builds(Reading, numbers, numbers, numbers),
    busy=st.floats(0, 30),
    idle=st.floats(0, 30),
    memory=st.builds(Memory, credit=st.floats(-30, 1), cooling=st.booleans()),
)
def test_whatever_is_read_the_rest_is_short_and_never_negative(
    *, share: float, degrees: float | None, watts: float | None, reading: Reading, busy: float, idle: float,
    memory: Memory,
) -> None:  # fmt: skip
    seconds, _ = rest(Ceilings(share, degrees, watts), reading, busy, busy + idle, memory)
    assert 0.0 <= seconds <= LONGEST_REST


class Time:
    """A clock and a processor that go only when told to."""

    def __init__(self) -> None:
        self.now = self.processor = 0.0

    def compute(self, seconds: float, threads: int = 1) -> None:
        self.now += seconds
        self.processor += seconds * threads


GPU = Gpu(0, "GPU-0", "Pretended GPU", 8 << 30, 1 << 30, temperature=40, power=30.0, power_limit=250.0, energy=100.0)


def rests(throttle: Throttle, time: Time, limits: Limits, busy: float, threads: int = 1) -> float:
    """Seconds that it rests after a microbatch."""
    total = 0.0
    while seconds := throttle.rest(limits, threads, busy):
        total, busy = total + seconds, 0.0
        time.now += seconds
        assert total < 60.0, "it never ends"
    return total


@pytest.mark.parametrize("threads", [1, 4])
def test_the_processor_has_its_share_of_the_allowed_threads(threads: int) -> None:
    time = Time()
    throttle = Throttle(None, lambda: time.now, lambda: time.processor)
    for _ in range(100):
        time.compute(0.1, threads)
        rests(throttle, time, Limits(processor_share=50), 0.1, threads)
    assert time.processor / threads / time.now == pytest.approx(0.5, rel=0.02)


def test_waiting_for_peers_is_no_computing() -> None:
    time = Time()
    throttle = Throttle(None, lambda: time.now, lambda: time.processor)
    time.compute(0.1)
    time.now += 5.0
    assert rests(throttle, time, Limits(processor_share=50), 0.1) == 0.0


@pytest.mark.parametrize("share", [10, 25, 50])
def test_any_minute_has_its_share_although_rounds_are_waited_for(share: int) -> None:
    time, spent = Time(), [(0.0, 0.0)]
    throttle = Throttle(None, lambda: time.now, lambda: time.processor)
    for microbatch in range(1, 4000):
        time.compute(0.07)
        if microbatch % 35 == 0:
            time.now += 1.0
        rests(throttle, time, Limits(processor_share=share), 0.07)
        spent.append((time.now, time.processor))
    for begin, before in spent[len(spent) // 10 :: 7]:
        minute = [processor - before for now, processor in spent if begin + 59.5 <= now <= begin + 60.5]
        if minute:
            assert statistics.mean(minute) / 60 == pytest.approx(share / 100, rel=0.03)


def test_a_long_wait_is_not_caught_up_on_in_one_burst() -> None:
    time = Time()
    throttle = Throttle(None, lambda: time.now, lambda: time.processor)
    time.now += 600.0
    assert rests(throttle, time, Limits(processor_share=50), 0.0) == 0.0
    time.compute(1.5)
    assert rests(throttle, time, Limits(processor_share=50), 1.5) > 0.0


def test_a_share_that_is_raised_counts_at_once() -> None:
    time = Time()
    throttle = Throttle(None, lambda: time.now, lambda: time.processor)
    time.compute(1.0)
    assert throttle.rest(Limits(processor_share=5), 1) > 0
    assert rests(throttle, time, Limits(processor_share=100), 0.0) < 2.0


def test_what_was_too_much_for_a_low_share_is_no_debt_of_a_higher_one() -> None:
    time = Time()
    throttle = Throttle(None, lambda: time.now, lambda: time.processor)
    throttle.rest(Limits(processor_share=5), 1)
    time.compute(60.0)
    assert throttle.rest(Limits(processor_share=5), 1) > 0
    assert rests(throttle, time, Limits(processor_share=50), 0.0) < 1.0


def test_the_gpu_has_its_own_share() -> None:
    time = Time()
    throttle = Throttle(lambda: GPU, lambda: time.now, lambda: time.processor)
    busy = 0.0
    for _ in range(100):
        time.now += 0.1
        busy += 0.1
        rests(throttle, time, Limits(gpu_share=40), 0.1)
    assert busy / time.now == pytest.approx(0.4, rel=0.02)


def test_a_gpu_that_does_not_answer_is_left_alone_and_looked_for_again() -> None:
    time = Time()
    answers: list[Gpu | None] = [GPU, None, None, GPU]
    throttle = Throttle(lambda: answers.pop(0) if len(answers) > 1 else answers[0], lambda: time.now, lambda: 0.0)
    time.now += 1.0
    assert throttle.rest(Limits(gpu_share=100), 1, 0.1) == 0.0
    time.now += 1.0
    assert throttle.rest(Limits(gpu_share=100), 1, 0.1) == LONGEST_REST
    assert rests(throttle, time, Limits(gpu_share=100), 0.0) == LONGEST_REST * 2


def test_energy_is_counted_while_at_work_only() -> None:
    time = Time()
    joules = [100.0, 150.0, 1000.0, 1030.0, 5.0, 15.0]
    throttle = Throttle(lambda: replace(GPU, energy=joules.pop(0)), lambda: time.now, lambda: 0.0)
    assert throttle.joules.gpu is None
    for expected in (None, 50.0):
        time.now += 1.0
        throttle.rest(Limits(gpu_share=100), 1)
        assert throttle.joules.gpu == expected
    throttle.begin()
    for expected in (50.0, 80.0, 80.0, 90.0):
        time.now += 1.0
        throttle.rest(Limits(gpu_share=100), 1)
        assert throttle.joules.gpu == expected


def test_a_card_without_a_counter_is_estimated_from_its_watts() -> None:
    time = Time()
    throttle = Throttle(lambda: replace(GPU, energy=None, power=100.0), lambda: time.now, lambda: 0.0)
    for _ in range(4):
        throttle.rest(Limits(), 1)
        time.now += LONGEST_REST
    throttle.rest(Limits(), 1)
    assert throttle.joules.gpu is None
    assert throttle.joules.estimated == pytest.approx(100.0 * 4 * LONGEST_REST)


@pytest.mark.parametrize(("share", "most"), [(100, 41), (50, 101)])
def test_short_microbatches_do_not_wait_each_time_until_the_processor_time_is_read(share: int, most: int) -> None:
    time, looks = Time(), 0

    def processor_time() -> float:
        nonlocal looks
        looks += 1
        return 0.0

    throttle = Throttle(None, lambda: time.now, processor_time)
    for _ in range(1000):
        time.compute(0.01)
        throttle.rest(Limits(processor_share=share), 1, 0.01)
    assert most / 2 < looks <= most + 1

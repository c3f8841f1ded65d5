"""The size of a microbatch: as large as memory and latency allow."""

import pytest

from core.trainer.microbatch_size import Size


def test_without_a_target_a_microbatch_is_as_large_as_the_project_says() -> None:
    size = Size(16)
    size.record(16, 10.0)
    assert size.next(0) == 16


def test_it_starts_small_when_nothing_is_known_of_the_speed() -> None:
    assert Size(16).next(100) == 1


@pytest.mark.parametrize(("per_sample", "expected"), [(0.001, 16), (0.01, 10), (0.05, 2), (0.3, 1)])
def test_it_settles_at_what_fits_into_the_target(per_sample: float, expected: int) -> None:
    size = Size(16)
    for _ in range(20):
        samples = size.next(100)
        size.record(samples, samples * per_sample)
    assert size.next(100) == expected


def test_a_fixed_cost_of_each_microbatch_does_not_push_it_over_the_target() -> None:
    size = Size(64)
    for _ in range(50):
        samples = size.next(100)
        size.record(samples, 0.03 + samples * 0.005)
    assert 0.08 <= 0.03 + size.next(100) * 0.005 <= 0.11


def test_one_slow_microbatch_does_not_change_much() -> None:
    size = Size(16)
    for _ in range(20):
        size.record(8, 0.08)
    size.record(8, 0.16)
    assert size.next(100) >= 7


def test_it_never_falls_below_the_least_that_the_task_can_use() -> None:
    size = Size(64, least=16)
    assert size.next(100) == 16
    size.record(16, 16.0)
    assert size.next(100) == 16
    assert size.halve(32)
    assert size.next(0) == 16
    assert not size.halve(16)


def found(size: Size, room: int, fixed: int, each: int) -> list[int]:
    """The sizes that are tried, where so many bytes are taken at any size and by each sample."""
    tried = list[int]()
    while not tried or size.is_unknown(size.next(0)):
        samples = size.next(0)
        taken = fixed + samples * each
        assert taken <= room
        assert size.fit(samples, taken, room)
        tried.append(samples)
    return [*tried, size.next(0)]


@pytest.mark.parametrize(
    ("room", "fixed", "tries"),
    [(10_000, 0, [1, 64, 64]), (1000, 0, [1, 10, 10]), (1000, 400, [1, 2, 3, 4, 5, 5]), (199, 99, [1, 1])],
)
def test_a_limit_of_memory_is_approached_from_below(room: int, fixed: int, tries: list[int]) -> None:
    assert found(Size(64, has_limit=True), room, fixed, each=100) == tries


def test_a_batch_is_cut_into_equal_parts() -> None:
    """What is left of it would otherwise be too little for the task."""
    size = Size(32, least=8, has_limit=True)
    assert found(size, room=2900, fixed=0, each=100) == [8, 16, 16]


def test_memory_that_is_too_small_for_the_least_is_told() -> None:
    size = Size(64, least=8, has_limit=True)
    assert not size.fit(8, 801, 800)
    assert size.fit(8, 800, 800)


def test_less_room_than_before_makes_it_smaller() -> None:
    size = Size(64, has_limit=True)
    assert found(size, room=10_000, fixed=0, each=100)[-1] == 64
    size.find()
    assert found(size, room=400, fixed=0, each=100)[-1] == 4


@pytest.mark.parametrize(
    ("declared", "least", "fitting"),
    [(30, 12, 14), (30, 12, 20), (64, 24, 30), (64, 24, 40), (40, 16, 18), (40, 16, 22)],
)
def test_equal_parts_are_neither_less_than_the_task_can_use_nor_more_than_fit(
    declared: int, least: int, fitting: int
) -> None:
    size = Size(declared, least, has_limit=True)
    if size.fit(least, 100 * least, 100 * fitting):
        assert least <= size.most <= fitting
        assert all(least <= part <= fitting for part in {size.most, declared % size.most or size.most})
    else:
        assert -(-declared // (declared // least)) > fitting, "no equal parts do"


def test_how_many_samples_fit_is_known_for_a_pass_that_takes_twice_as_much_too() -> None:
    size = Size(64, has_limit=True)
    assert found(size, room=4000, fixed=0, each=100)[-1] == 32
    assert size.most_of_twice == 20
    size.find()
    assert found(size, room=50_000, fixed=0, each=100)[-1] == 64
    assert size.most_of_twice == 64, "it was known to be enough for twice as much"
    assert Size(64).most_of_twice == 64, "a card tells by itself"

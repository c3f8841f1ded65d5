"""The live share of the processor, from what a session has computed."""

from core.api.session import Counters, Report
from core.engine.session.processor_use import ProcessorWatch


def fed(*told: tuple[float, float]) -> ProcessorWatch:
    """(time, seconds computed so far) of each report."""
    watch = ProcessorWatch()
    for now, seconds in told:
        watch.add(Report("contributing", counters=Counters(cpu_seconds=seconds), memory=700, memory_at=5.0), now)
    return watch


def share(watch: ProcessorWatch, threads: int = 1) -> int | None:
    use = watch.read(threads)
    return use.share if use else None


def test_one_report_tells_nothing() -> None:
    assert share(fed((0.0, 5.0))) is None


def test_the_share_is_of_the_threads_that_may_compute() -> None:
    assert share(fed((0.0, 5.0), (2.0, 6.0))) == 50
    assert share(fed((0.0, 5.0), (2.0, 6.0)), threads=2) == 25


def test_only_the_last_seconds_count() -> None:
    assert share(fed(*((float(now), 0.0) for now in range(60)), (60.0, 1.0), (66.0, 7.0))) == 100


def test_it_is_never_more_than_all_and_memory_comes_along() -> None:
    use = fed((0.0, 0.0), (1.0, 9.0)).read(1)
    assert use is not None
    assert (use.share, use.memory, use.memory_at) == (100, 700, 5.0)


def test_a_clock_that_was_set_back_or_another_session_restarts_it() -> None:
    watch = fed((100.0, 5.0), (101.0, 6.0), (50.0, 7.0))
    assert share(watch) is None
    watch = fed((0.0, 5.0), (2.0, 6.0))
    watch.begin()
    assert share(watch) is None

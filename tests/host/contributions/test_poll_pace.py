from core.host.contributions.poll_pace import PollPace


def readings(pace: PollPace, begin: int, end: int, epoch: int, trainers: int = 2) -> list[int]:
    return [now for now in range(begin, end) if pace.is_due(float(now), epoch, trainers)]


def test_after_an_update_statements_are_read_as_they_come_and_then_seldom() -> None:
    pace = PollPace()
    assert readings(pace, 0, 40, epoch=3) == [0, 2, 4, 19, 34]
    assert readings(pace, 40, 50, epoch=4) == [40, 42, 44]


def test_in_a_run_of_short_epochs_statements_are_read_all_the_time() -> None:
    pace = PollPace()
    assert [now for now in range(20) if pace.is_due(float(now), now // 3, 2)] == list(range(0, 20, 2))


def test_the_first_trainers_are_seen_at_once() -> None:
    pace = PollPace()
    assert readings(pace, 0, 30, epoch=0, trainers=1) == list(range(0, 30, 2))

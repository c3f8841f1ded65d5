"""The trainer's end of the wire, over real pipes."""

import os
import threading
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
import pytest

from core.api.session import ApplySettings, Hold, Leave, Report, Resume, TrainerCommand, encode, report_decoder
from core.api.session_settings import SessionSettings
from core.swarm.traffic.link import Link
from core.trainer.control import Control, read_start
from core.trainer.reporter import Reporter
from core.trainer.session_status import BeforeJoining, Measurements, SessionStatus
from tests.waiting import wait_for


class Engine:
    """The other end of stdin."""

    def __init__(self) -> None:
        reading, self._writing = os.pipe()
        self.stream: BinaryIO = os.fdopen(reading, "rb")
        self._open = True

    def say(self, command: TrainerCommand) -> None:
        os.write(self._writing, encode(command))

    def say_raw(self, text: bytes) -> None:
        os.write(self._writing, text)

    def go_away(self) -> None:
        if self._open:
            os.close(self._writing)
            self._open = False


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.go_away()
    made.stream.close()


@pytest.fixture
def control(engine: Engine) -> Iterator[Control]:
    made = Control(engine.stream, SessionSettings())
    made.start()
    yield made
    engine.go_away()
    wait_for(made.leaving.is_set)


def test_hold_and_resume_reach_a_loop_that_is_busy(engine: Engine, control: Control) -> None:
    engine.say(Hold())
    wait_for(lambda: control.held)
    done = threading.Event()

    def wait() -> None:
        control.wait_while_held(10)
        done.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not done.wait(0.05)
    engine.say(Resume())
    assert done.wait(5)
    waiting.join()


def test_leave_ends_a_hold_and_interrupts_what_the_loop_waits_for(engine: Engine, control: Control) -> None:
    interrupted = threading.Event()
    control.on_interruption = interrupted.set
    engine.say(Hold())
    engine.say(Leave())
    assert interrupted.wait(5)
    control.wait_while_held(10)
    assert control.leaving.is_set()


def test_what_a_short_pause_stopped_goes_on_though_the_loop_saw_no_pause(engine: Engine, control: Control) -> None:
    calls = list[str]()
    control.on_interruption, control.on_resume = lambda: calls.append("stop"), lambda: calls.append("go on")
    for command in (Hold(), Resume(), Hold(), Resume()):
        engine.say(command)
    wait_for(lambda: calls == ["stop", "go on"] * 2)


def test_settings_apply_without_a_restart(engine: Engine, control: Control) -> None:
    engine.say(ApplySettings(SessionSettings(display_name="Ada")))
    wait_for(lambda: control.settings.display_name == "Ada")


def test_an_engine_that_goes_away_ends_the_session(engine: Engine, control: Control) -> None:
    engine.go_away()
    assert control.leaving.wait(5)


def test_a_command_from_the_future_is_passed_over(engine: Engine, control: Control) -> None:
    engine.say_raw(b'{"type":"Dance"}\nnot even json\n')
    engine.say(Hold())
    wait_for(lambda: control.held)


def test_a_session_without_a_word_from_the_engine_ends_before_it_began(engine: Engine) -> None:
    engine.go_away()
    assert read_start(engine.stream) is None


def test_a_session_begins_with_start_and_nothing_else(engine: Engine) -> None:
    engine.say(Hold())
    with pytest.raises(msgspec.ValidationError):
        read_start(engine.stream)


def test_a_report_is_sent_when_it_changes_and_a_last_one_at_the_end() -> None:
    reading, writing = os.pipe()
    reporter = Reporter(writing)
    reports = iter([Report("preparing")] + [Report("holding")] * 100)
    reporter.report(lambda: next(reports))
    received = os.fdopen(reading, "rb")
    assert report_decoder.decode(received.readline()) == Report("preparing")
    assert report_decoder.decode(received.readline()) == Report("holding")
    reporter.stop()
    os.close(writing)
    assert received.read() == b""
    received.close()


def test_a_session_that_works_reports_also_when_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.trainer.reporter._LONGEST_SILENCE", 0.0)
    reading, writing = os.pipe()
    reporter = Reporter(writing)
    reporter.report(lambda: Report("joining"))
    received = os.fdopen(reading, "rb")
    assert [report_decoder.decode(received.readline()) for _ in range(3)] == [Report("joining")] * 3
    reporter.stop()
    os.close(writing)
    received.close()


def test_the_end_of_a_pause_is_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.trainer.reporter._PERIOD_ON_HOLD", 60.0)
    reading, writing = os.pipe()
    reporter = Reporter(writing)
    status = SessionStatus(Measurements(Link()), BeforeJoining(64), "holding", reporter.wake)
    reporter.report(status.report)
    received = os.fdopen(reading, "rb")
    assert report_decoder.decode(received.readline()).stage == "holding"
    status.enter("contributing")
    assert report_decoder.decode(received.readline()).stage == "contributing"
    reporter.stop()
    os.close(writing)
    received.close()


def test_a_vanished_engine_does_not_break_the_reporter() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    reporter = Reporter(writing)
    reporter.report(lambda: Report("preparing"))
    # It notices by itself: nobody has told it to stop.
    wait_for(lambda: "reporter" not in [thread.name for thread in threading.enumerate()])
    reporter.stop()
    os.close(writing)

"""Processor time of all processes of a session, with real processes."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from core.trainer.machine.processor_time import ProcessorTime, with_shared_ones
from tests.waiting import wait_for

_SPIN = """
import time
while time.process_time() < 0.3:
    pass
print(flush=True)
input()
"""


def test_a_process_that_was_started_counts_and_goes_on_counting_after_its_end() -> None:
    worker = subprocess.Popen([sys.executable, "-c", _SPIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert worker.stdout
        worker.stdout.readline()
        meter = ProcessorTime(members=lambda: {psutil.Process(worker.pid): 1.0})
        given = meter.read()
        assert 0.29 <= given < 5.0
    finally:
        worker.communicate(b"\n")
    assert meter.read() == given


def test_this_process_counts() -> None:
    meter = ProcessorTime()
    before = meter.read()
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    assert meter.read() >= before + 0.05


_PROGRAM = """
import json, subprocess, sys
code, children = sys.argv[-2:]
for words, below in json.loads(children).items():
    command = [sys.executable, "-c", code, *words.split(), code, json.dumps(below)]
    subprocess.Popen(command, stdin=subprocess.PIPE)
sys.stdin.read()
"""
_SESSION: dict[str, Any] = {"core.system.subreaper -- core.trainer": {"core.trainer": {"averager": {}}}}
_PRACTICE = {**_SESSION, "core.host": {"p2pd": {}, **_SESSION}}


@pytest.fixture
def practice() -> Iterator[list[psutil.Process]]:
    """The programs of a practice project under an engine."""
    command = [sys.executable, "-c", _PROGRAM, "core.engine", _PROGRAM, json.dumps(_PRACTICE)]
    engine = subprocess.Popen(command, stdin=subprocess.PIPE)
    top = psutil.Process(engine.pid)
    try:
        wait_for(lambda: len(top.children(recursive=True)) == 8, 30.0, "all programs run")
        yield [top, *top.children(recursive=True)]
    finally:
        for process in [*top.children(recursive=True), top]:
            process.kill()
        engine.communicate()


def words_of(process: psutil.Process) -> str:
    return " ".join(process.cmdline()[3:-2])


def test_what_all_trainers_of_a_profile_share_counts_by_their_parts(practice: list[psutil.Process]) -> None:
    """A share of the processor is that of everything that runs for contributing."""
    trainers = [process for process in practice if words_of(process) == "core.trainer"]
    parts = [with_shared_ones(trainer) for trainer in trainers]
    for own, other, trainer in ((parts[0], parts[1], trainers[0]), (parts[1], parts[0], trainers[1])):
        session = [trainer, *trainer.children()]
        assert {process: own[process] for process in session} == dict.fromkeys(session, 1.0)
        assert not set(session) & set(other)
    shared = {process for process in practice if parts[0].get(process) == 0.5}
    assert shared == {process for process in practice if parts[1].get(process) == 0.5}
    assert len(shared) == 5, "engine, host, its daemon and two subreapers"


def test_part_of_a_process_counts() -> None:
    meter = ProcessorTime(members=lambda: {psutil.Process(): 0.5})
    before, used = meter.read(), time.process_time()
    while time.process_time() < used + 0.2:
        pass
    assert meter.read() - before == pytest.approx(0.1, abs=0.03)

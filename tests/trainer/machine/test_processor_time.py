"""Processor time of all processes of a session, with real processes."""

import subprocess
import sys
import time

import psutil

from core.trainer.machine.processor_time import ProcessorTime

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
        meter = ProcessorTime(members=lambda: [psutil.Process(worker.pid)])
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

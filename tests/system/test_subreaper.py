"""The subreaper, with real trees of processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from core.client.installation import core_command, core_environment
from core.system.orphans import TAG
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="adopting orphans is Linux's; elsewhere the group has to do"
)

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)"
)
TREE = f"""
import os, subprocess, sys, time
stubborn = {STUBBORN!r} + "; time.sleep(600)"
start_it = f"subprocess.Popen([sys.executable, '-c', {{stubborn!r}}], start_new_session=True)"
middle = "import subprocess, sys, time; " + start_it + "; time.sleep(600)"
subprocess.Popen([sys.executable, "-c", stubborn])
subprocess.Popen([sys.executable, "-c", stubborn], start_new_session=True)
subprocess.Popen([sys.executable, "-c", middle], start_new_session=True)
"""
"""Four stragglers of a session: one in its group, one in a session of its own, one such with a child in yet another."""


FORKS = f"""
import os, time
from core.system.subreaper import end_children_with_this_process
{STUBBORN}
end_children_with_this_process()
os.fork() or os.fork()
time.sleep(600)
"""


class Supervised:
    """A subreaper with its command, and every process that carries its tag."""

    def __init__(self, folder: Path, program: str, grace: float = 0.5) -> None:
        self.folder = folder
        command = core_command(
            "core.system.subreaper", "--grace", str(grace), str(folder), "--", sys.executable, "-c", program
        )
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**core_environment(), TAG: str(folder)},
        )

    def members(self) -> list[psutil.Process]:
        return [process for process in psutil.process_iter() if _tag(process) == str(self.folder)]

    def child(self) -> psutil.Process:
        wait_for(lambda: psutil.Process(self.process.pid).children())
        return min(psutil.Process(self.process.pid).children(), key=lambda child: child.create_time())

    def is_gone(self) -> bool:
        return not self.members()

    def clean_up(self) -> None:
        for process in self.members():
            process.kill()
        self.process.wait(5)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def _tag(process: psutil.Process) -> str | None:
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get(TAG)
    except psutil.Error:
        return None


Subreaper = Callable[..., Supervised]


@pytest.fixture
def subreaper(tmp_path: Path) -> Iterator[Subreaper]:
    started: list[Supervised] = []

    def start(program: str, grace: float = 0.5) -> Supervised:
        started.append(Supervised(tmp_path / f"session-{len(started)}", program, grace))
        return started[-1]

    yield start
    for supervised in started:
        supervised.clean_up()


def test_stdin_and_stdout_are_the_commands_own_and_its_exit_code_comes_back(subreaper: Subreaper) -> None:
    supervised = subreaper("import sys; print(sys.stdin.readline().upper(), end=''); sys.exit(7)")
    out, _ = supervised.process.communicate(b"hello\n", timeout=10)
    assert (out, supervised.process.returncode) == (b"HELLO\n", 7)


def test_the_session_folder_is_private_while_the_command_runs_and_gone_afterwards(subreaper: Subreaper) -> None:
    supervised = subreaper(
        f"import os, sys; print(oct(os.stat(os.environ[{TAG!r}]).st_mode & 0o777)); sys.stdin.read()"
    )
    assert supervised.process.stdout is not None
    assert supervised.process.stdout.readline() == b"0o700\n"
    supervised.process.communicate(timeout=10)
    assert not supervised.folder.exists()


def test_everything_is_in_the_subreapers_group_unless_it_leaves_it(subreaper: Subreaper) -> None:
    supervised = subreaper("import os, sys; print(os.getpgrp(), os.getsid(0)); sys.stdin.read()")
    assert supervised.process.stdout is not None
    assert supervised.process.stdout.readline() == f"{supervised.process.pid} {supervised.process.pid}\n".encode()


def test_when_the_command_ends_its_stragglers_end_too_in_whatever_session_they_are(subreaper: Subreaper) -> None:
    supervised = subreaper(TREE + "sys.stdin.read()")
    wait_for(lambda: len(supervised.members()) == 6)
    supervised.process.communicate(timeout=10)
    assert supervised.is_gone()


def test_a_killed_command_ends_the_rest_within_a_second_and_its_signal_comes_back(subreaper: Subreaper) -> None:
    supervised = subreaper(TREE + "time.sleep(600)")
    wait_for(lambda: len(supervised.members()) == 6)
    supervised.child().kill()
    assert supervised.process.wait(1.0) == 128 + signal.SIGKILL
    assert supervised.is_gone()
    assert not supervised.folder.exists()


def test_sigterm_is_passed_on_and_the_command_may_leave_politely(subreaper: Subreaper) -> None:
    supervised = subreaper(
        "import signal, sys; signal.signal(15, lambda *_: sys.exit(3)); print(); signal.pause()", 10.0
    )
    assert supervised.process.stdout is not None
    supervised.process.stdout.readline()
    supervised.process.terminate()
    assert supervised.process.wait(5) == 3


def test_a_command_that_ignores_sigterm_is_killed_after_the_grace(subreaper: Subreaper) -> None:
    supervised = subreaper(TREE + STUBBORN + "; print(flush=True); time.sleep(600)")
    assert supervised.process.stdout is not None
    supervised.process.stdout.readline()
    wait_for(lambda: len(supervised.members()) == 6)
    supervised.process.terminate()
    assert supervised.process.wait(5) == 128 + signal.SIGKILL
    assert supervised.is_gone()


def test_a_second_sigterm_ends_a_command_that_is_slow_to_leave(subreaper: Subreaper) -> None:
    supervised = subreaper(STUBBORN + "; print(flush=True); time.sleep(600)", 300.0)
    assert supervised.process.stdout is not None
    supervised.process.stdout.readline()
    supervised.process.terminate()
    time.sleep(1.2)  # one that comes earlier may be of the same request
    assert supervised.process.poll() is None
    supervised.process.terminate()
    assert supervised.process.wait(5) == 128 + signal.SIGKILL
    assert supervised.is_gone()


def test_a_killed_subreaper_takes_its_command_along_and_the_group_can_be_killed(subreaper: Subreaper) -> None:
    straggler = STUBBORN + "; time.sleep(600)"
    supervised = subreaper(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {straggler!r}])")
    wait_for(lambda: len(supervised.members()) == 3)
    child = supervised.child()
    supervised.process.kill()
    supervised.process.wait(5)
    wait_for(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    os.killpg(supervised.process.pid, signal.SIGKILL)
    wait_for(supervised.is_gone)


def test_forks_end_although_both_nested_subreapers_are_killed_at_once(tmp_path: Path, subreaper: Subreaper) -> None:
    nested = core_command("core.system.subreaper", str(tmp_path / "session-0"), "--", sys.executable, "-c", FORKS)
    supervised = subreaper(f"import os; os.execv({nested[0]!r}, {nested!r})")
    wait_for(lambda: len(supervised.members()) == 5)
    both = [supervised.child(), psutil.Process(supervised.process.pid)]
    for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped, neither can clean up after the other
        for process in both:
            process.send_signal(number)
    wait_for(supervised.is_gone, 5.0)


def test_a_fork_of_a_thread_that_ends_goes_on(subreaper: Subreaper) -> None:
    program = """
import os, sys, threading
from core.system.subreaper import end_children_with_this_process
end_children_with_this_process()
def fork():
    if not (child := os.fork()):
        os.read(0, 1)
        os._exit(3)
    children.append(child)
children = []
thread = threading.Thread(target=fork)
thread.start()
thread.join()
print(os.waitpid(children[0], os.WNOHANG)[0], flush=True)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]))
"""
    supervised = subreaper(program)
    assert supervised.process.stdout is not None
    assert supervised.process.stdout.readline() == b"0\n"
    supervised.process.communicate(b"x", timeout=10)
    assert supervised.process.returncode == 3


@pytest.mark.parametrize("manners", ["sys.stdin.read()", STUBBORN + "; time.sleep(600)"], ids=["polite", "stubborn"])
def test_nothing_outlives_a_killed_parent(tmp_path: Path, manners: str) -> None:
    folder = tmp_path / "session"
    program = TREE + manners
    command = core_command("core.system.subreaper", "--grace", "0.5", str(folder), "--", sys.executable, "-c", program)
    parent = (
        f"import subprocess, time; subprocess.Popen({command!r}, stdin=subprocess.PIPE, start_new_session=True);"
        "time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", parent], env={**core_environment(), TAG: str(folder)})

    def members() -> list[psutil.Process]:
        return [member for member in psutil.process_iter() if _tag(member) == str(folder)]

    try:
        wait_for(lambda: len(members()) == 7)
        process.kill()
        process.wait(5)
        wait_for(lambda: not members() and not folder.exists(), 5.0)
    finally:
        for member in members():
            member.kill()
        process.kill()
        process.wait(5)


def test_a_command_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    command = core_command("core.system.subreaper", str(tmp_path / "session"), "--", "/no/such/program")
    done = subprocess.run(command, env=core_environment(), capture_output=True, text=True, timeout=10, check=False)
    assert (done.returncode, done.stderr) == (127, "/no/such/program cannot be started: No such file or directory.\n")


@pytest.mark.parametrize(
    "arguments", [[], ["folder"], ["folder", "--"], ["--grace", "x", "folder", "--", "true"], ["--", "true"]]
)
def test_wrong_arguments_are_answered_with_the_usage(arguments: list[str]) -> None:
    command = core_command("core.system.subreaper", *arguments)
    done = subprocess.run(command, env=core_environment(), capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage:")

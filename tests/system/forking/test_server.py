"""Programs that a process forks which has loaded their libraries, with real processes."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.client.installation import core_command
from core.system.forking.requests import Forked
from core.system.orphans import kill_all, processes_of
from tests.fakes.forking.fork_server import Server
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")


def tell(program: Forked, line: str) -> None:
    program.stdin.write(f"{line}\n".encode())
    program.stdin.flush()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path)
    try:
        yield started
    finally:
        started.close()
        kill_all(tmp_path)


def test_a_forked_program_has_the_libraries_and_a_life_of_its_own(server: Server, tmp_path: Path) -> None:
    program, about = server.program("session-111111", "one", "two")
    folder = str(tmp_path / "session-111111")
    assert about["has_loaded"]
    assert about["arguments"] == ["one", "two"]
    assert (about["session"], about["temporary"]) == (folder, folder)
    tell(program, "7")
    assert program.wait(10) == 7
    assert not Path(folder).exists()


def test_the_system_shows_a_forked_process_as_what_it_runs(server: Server, tmp_path: Path) -> None:
    _, about = server.program("session-111111", "one")
    process = psutil.Process(about["pid"])
    command = core_command("tests.fakes.forking.forked_program", "one")
    assert [word for word in process.cmdline() if word] == command
    assert {process, process.parent()} == set(processes_of(tmp_path / "session-111111"))
    subreaper = process.parent()
    assert subreaper is not None
    assert subreaper.cmdline()[3:5] == ["core.system.subreaper", str(tmp_path / "session-111111")]
    assert "colorsys" not in psutil.Process(server.process.pid).cmdline()


def test_a_second_program_is_of_another_session(server: Server, tmp_path: Path) -> None:
    first, one = server.program("session-111111")
    _, two = server.program("session-222222")
    assert psutil.Process(two["pid"]) in processes_of(tmp_path / "session-222222")
    assert psutil.Process(two["pid"]) not in processes_of(tmp_path / "session-111111")
    first.stdin.close()
    wait_for(lambda: not psutil.pid_exists(one["pid"]))
    assert psutil.pid_exists(two["pid"])


def test_a_program_that_is_known_leads_its_group_so_that_it_can_be_killed_at_once(
    server: Server, tmp_path: Path
) -> None:
    # With an end of its input it would end by itself.
    reader, writer = os.pipe()
    for number in range(5):
        command = core_command("tests.fakes.forking.forked_program")
        asked = server.asking.ask(command, tmp_path / f"session-{number:06}", 0.5, [reader, 1, 2])
        answer = server.asking.read()
        assert answer is not None
        assert (answer.number, answer.code) == (asked, None)
        os.killpg(answer.pid or 0, signal.SIGKILL)
        ended = server.asking.read()
        assert ended is not None
        assert ended.code == -signal.SIGKILL
    os.close(reader)
    os.close(writer)


def test_nothing_is_left_of_a_program_that_is_terminated(server: Server, tmp_path: Path) -> None:
    program, _ = server.program()
    tell(program, "straggle")
    straggler = int(program.stdout.readline())
    assert psutil.Process(straggler) in processes_of(tmp_path / "session-111111")
    program.terminate()
    assert program.wait(10) == 128 + signal.SIGTERM
    assert not psutil.pid_exists(straggler)


def test_a_server_that_nobody_asks_any_more_ends_with_its_programs_and_folders(server: Server, tmp_path: Path) -> None:
    (tmp_path / "session-000000").mkdir()
    server.program()
    server.close()
    assert server.process.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_nobody_asks_any_more_does_not_wait_for_its_libraries(tmp_path: Path) -> None:
    """As when the engine is killed while it starts a session."""
    (tmp_path / "session-000000").mkdir()
    server = Server(tmp_path, "tests.fakes.forking.endless_module")
    server.asking.ask(core_command("tests.fakes.forking.forked_program"), tmp_path / "session-111111", 0.5, [0, 1, 2])
    try:
        server.close()
    finally:
        server.process.kill()
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_forked_before_the_thread_that_loaded_the_libraries_is_gone(tmp_path: Path) -> None:
    """What a library's clean-up has locked then, such as MKL's memory manager, would stay locked in what is forked."""
    server = Server(tmp_path, "tests.fakes.forking.slow_to_end")
    try:
        assert server.program()[1]["cleaned_up"]
    finally:
        server.close()


def test_with_a_killed_server_ends_all_that_it_has_forked(server: Server, tmp_path: Path) -> None:
    program, _ = server.program()
    tell(program, "straggle")
    program.stdout.readline()
    server.process.kill()
    assert program.wait(10) == -signal.SIGKILL
    wait_for(lambda: not processes_of(tmp_path), 10, "all processes have ended")
    with pytest.raises(OSError, match="pipe"):
        server.asking.start(core_command("tests.fakes.forking.forked_program"), tmp_path / "session-333333", 0.5)


def test_what_a_killed_subreaper_leaves_is_found_by_its_session(server: Server, tmp_path: Path) -> None:
    program, about = server.program()
    tell(program, "straggle")
    straggler = int(program.stdout.readline())
    subreaper = psutil.Process(about["pid"]).parent()
    assert subreaper is not None
    os.kill(subreaper.pid, signal.SIGKILL)
    assert program.wait(10) == -signal.SIGKILL
    kill_all(tmp_path / "session-111111")
    wait_for(lambda: not psutil.pid_exists(straggler))


def test_a_forked_program_can_have_a_server_of_its_own(server: Server, tmp_path: Path) -> None:
    program, _ = server.program()
    tell(program, "nest")
    inner = json.loads(program.stdout.readline())
    assert (inner["arguments"], inner["has_loaded"]) == (["inner"], True)
    assert inner["session"] == str(tmp_path / "session-111111" / "nested")
    assert program.stdout.readline() == b"9\n"

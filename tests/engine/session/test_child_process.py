"""Programs under a subreaper: their lines, their logs, their ends."""

import asyncio
import logging
import sys
from pathlib import Path

import pytest

from core.api.message import Message
from core.engine.machine.logs import KEPT, open_logs
from core.engine.session.child_process import LONGEST_LINE, Child, abnormal_end, start_child


async def run(tmp_path: Path, program: str, *lines: bytes) -> tuple[list[bytes], Child]:
    """What a program prints that gets `lines` and then the end of file."""
    heard: list[bytes] = []
    child = await start_child([sys.executable, "-c", program], tmp_path, heard.append, "test")
    for line in lines:
        child.send(line)
    await child.stop(10.0)
    return heard, child


def test_every_line_arrives_before_the_end_is_told(tmp_path: Path) -> None:
    program = "import sys\nfor line in sys.stdin: print(line.strip().upper())\nprint('the last words'); sys.exit(3)"
    heard, child = asyncio.run(run(tmp_path, program, b"one\n", b"two\n"))
    assert heard == [b"ONE", b"TWO", b"the last words"]
    assert child.code == 3
    assert list(tmp_path.iterdir()) == []


def test_lines_of_any_length_up_to_the_limit_arrive_whole(tmp_path: Path) -> None:
    heard, _ = asyncio.run(run(tmp_path, f"print('x' * {LONGEST_LINE - 1}); print('end')"))
    assert [len(line) for line in heard] == [LONGEST_LINE - 1, 3]


def test_a_program_that_prints_without_end_is_ended(tmp_path: Path) -> None:
    heard, child = asyncio.run(run(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 65536)"))
    assert (heard, child.code) == ([], 137)


def test_lines_for_a_program_that_is_gone_are_dropped(tmp_path: Path) -> None:
    async def scenario() -> None:
        _, child = await run(tmp_path, "pass")
        child.send(b"hello\n")
        child.kill()
        child.close_stdin()
        assert child.pid is None

    asyncio.run(scenario())


def test_what_a_program_logs_is_kept_up_to_a_size(tmp_path: Path) -> None:
    async def scenario() -> None:
        program = "import sys\nfor n in range(2000): print(n, 'x' * 50, file=sys.stderr)\nsys.stderr.write('y' * 9000)"
        (tmp_path / "run").mkdir()
        child = await start_child([sys.executable, "-c", program], tmp_path / "run", print, "trainer")
        await child.stop(10.0)

    before = logging.getLogger().handlers[:], logging.getLogger().level, logging.raiseExceptions
    try:
        open_logs(tmp_path, size=10_000)
        asyncio.run(scenario())
    finally:
        for logger in (logging.getLogger(), logging.getLogger("child.trainer"), logging.getLogger("child.host")):
            for handler in logger.handlers:
                handler.close()
        logging.getLogger().handlers, _, logging.raiseExceptions = before
        logging.getLogger().setLevel(before[1])
    kept = sorted(tmp_path.glob("trainer.log*"))
    assert len(kept) == 1 + KEPT
    assert all(0 < file.stat().st_size <= 10_000 for file in kept)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (1, Message("process_ended", {"code": 1})),
        (137, Message("process_killed", {"signal": "SIGKILL"})),
        (139, Message("process_crashed", {"signal": "SIGSEGV"})),
        (250, Message("process_ended", {"code": 250})),
    ],
)
def test_an_end_has_a_kind(code: int, message: Message) -> None:
    assert abnormal_end(code) == message

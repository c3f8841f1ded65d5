"""A process that has loaded libraries and forks programs on request: what loading them wrote is then in memory once.

    python -m core.system.forking.server MODULE [--promptly]

It imports MODULE and then reads requests from the Unix socket that is its standard input: a command, a session folder,
and the command's standard streams. Each command is run in a forked process, under a subreaper, as `python -m` would run
it. It answers with the subreaper's process id, and with the exit code when that has ended. When the other end of the
socket is closed it ends, and so do the subreapers with all that they started. Linux only.
"""

import contextlib
import json
import logging
import os
import runpy
import select
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from core.system import subreaper
from core.system.forking.requests import LONGEST, ForkServer
from core.system.forking.shown_process import show
from core.system.orphans import TAG
from core.system.priority import PROMPTLY, lower_this_thread, start_promptly

if sys.platform != "linux":
    raise ImportError("only Linux has what this needs")

_STREAMS = 3
_CHECKED_EVERY = 0.5
"""Seconds, while libraries are loaded, between two checks whether somebody still waits for them."""
_LOOKED_EVERY = 0.001
"""Seconds between two looks whether the thread that has loaded them is gone."""
_PYTHON = sys.orig_argv[: sys.orig_argv.index("-m") + 1] if "-m" in sys.orig_argv else [sys.executable, "-m"]
"""How the module of this process was run, and others are shown to be."""
_is_forked = False


def fork_server() -> ForkServer | None:
    """A server like the one that this process comes from, which ends with it; None if it comes from none. To be called
    before this process has threads and files of its own."""
    if not _is_forked:
        return None
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if not os.fork():
        own.close()
        os.dup2(2, 1)
        _end_with(lambda: _begin(other))
    other.close()
    return ForkServer(own)


def _begin(wire: socket.socket) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    show([*_PYTHON, "core.system.forking.server"], Path(os.environ[TAG]))
    _serve(wire)


def _serve(wire: socket.socket) -> None:
    running: dict[int, tuple[int, int]] = {}
    """Number and process id by descriptor (pidfd_open(2))."""
    while True:
        for ready in select.select([wire.fileno(), *running], [], [])[0]:
            if ready in running:
                number, pid = running.pop(ready)
                os.close(ready)
                _answer(wire, number, None, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                continue
            try:
                text, streams, _, _ = socket.recv_fds(wire, LONGEST, _STREAMS)
            except ConnectionResetError:  # closed with an answer that nobody has read
                return
            if not text:
                return
            number, command, folder, grace = json.loads(text)
            pid = _fork(command, Path(folder), grace, streams, [wire.fileno(), *running])
            running[os.pidfd_open(pid)] = number, pid
            _answer(wire, number, pid, None)


def _answer(wire: socket.socket, number: int, pid: int | None, code: int | None) -> None:
    with contextlib.suppress(OSError):  # the other end is closed, as the next reading finds
        wire.send(json.dumps([number, pid, code]).encode())


def _fork(command: list[str], folder: Path, grace: float, streams: list[int], others: list[int]) -> int:
    reader, writer = os.pipe()
    parent, pid = os.getpid(), os.fork()
    if not pid:
        os.setsid()
        os.close(reader)
        os.close(writer)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        for descriptor in others:
            os.close(descriptor)
    else:
        # Whoever gets the answer may kill the group at once, so the group has to exist.
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
    for stream in streams:
        os.close(stream)
    if not pid:
        _end_with(lambda: sys.exit(_supervise(command, folder, grace, parent)))
    return pid


def _supervise(command: list[str], folder: Path, grace: float, parent: int) -> int:
    show([*_PYTHON, "core.system.subreaper", str(folder), "--", *command], folder)
    return subreaper.run(folder, lambda: _become(command, folder), grace, parent)


def _become(command: list[str], folder: Path) -> NoReturn:
    """Run the module as a new interpreter would."""
    global _is_forked
    _is_forked = True
    show(command, folder)
    # Libraries may have asked for it before.
    tempfile.tempdir = None
    at = command.index("-m") + 1
    sys.argv = command[at:]
    _end_with(lambda: runpy.run_module(command[at], run_name="__main__", alter_sys=True))


def _end_with(act: Callable[[], object]) -> NoReturn:
    """Call it and end this forked process, which must never return into its parent's code."""
    code: object = 1
    try:
        act()
        code = 0
    except SystemExit as ending:
        code = ending.code
    except Exception:  # top level of the process
        logging.getLogger(__name__).exception("a forked program broke")
    finally:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


def main(module: str, *, promptly: bool) -> None:
    wire = socket.socket(fileno=os.dup(0))
    # All of it: what is forked may be awaited by a person, and no priority can be raised again.
    start_promptly()
    loaded = False

    def load() -> None:
        nonlocal loaded
        if not promptly:
            lower_this_thread()
        import_module(module)
        loaded = True

    loading, folder = threading.Thread(target=load, name="loading"), os.environ[TAG]
    loading.start()
    while loading.is_alive() and not _is_abandoned(wire):
        loading.join(_CHECKED_EVERY)
    if loaded and not _is_abandoned(wire):
        _await_the_last_of(loading)
        _begin(wire)
    # Whoever has made it may have been killed.
    shutil.rmtree(folder, ignore_errors=True)
    # Not sys.exit, which would wait for the libraries.
    os._exit(not loaded)


def _await_the_last_of(thread: threading.Thread) -> None:
    """Python says that a thread has ended before libraries have cleaned up after it (pthread_key_create(3)). MKL's
    memory manager has a lock meanwhile, and a process forked then would wait for that for ever at its first matmul."""
    while Path(f"/proc/self/task/{thread.native_id}").exists():
        time.sleep(_LOOKED_EVERY)


def _is_abandoned(wire: socket.socket) -> bool:
    """Whether the other end is closed. What was asked before is then not wanted any more."""
    closed = select.poll()
    closed.register(wire, 0)
    return bool(closed.poll(0))


if __name__ == "__main__":
    # Not this module, which is `__main__`, but the one that forked programs import.
    import_module("core.system.forking.server").main(sys.argv[1], promptly=PROMPTLY in sys.argv)

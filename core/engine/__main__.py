"""The engine process: `python -m core.engine`, for the profile of `IDLEHIVE_HOME`.

If it cannot start, it writes the reason to standard output (a `Message` as one JSON line) and exits with code 1.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from functools import partial

import msgspec

from core.api.errors import IdlehiveError, os_errors_as
from core.client.installation import core_command, core_environment
from core.client.profile import Profile
from core.conditions.machine import Machine, this_machine
from core.conditions.sleep.watch import announcer_here
from core.engine.engine import Engine
from core.engine.machine import profile_lock
from core.engine.machine.logs import open_logs
from core.engine.server.server import Server
from core.engine.session.commands import Programs
from core.engine.session.compute_runtime import torch_of
from core.store.database import StoreError
from core.store.store import Store
from core.system import orphans

_log = logging.getLogger("core.engine")


def main(programs: Programs | None = None, machine: Machine | None = None) -> int:
    """Run the engine to its end with these programs, on a machine with these sensors; None: the usual ones."""
    profile = Profile.from_environment()
    try:
        with contextlib.ExitStack() as closing:
            closing.enter_context(profile_lock.held(profile))
            open_logs(profile.logs)
            if killed := orphans.sweep(profile.runtime):
                _log.warning("%s processes of an engine that was killed were still there and are ended now.", killed)
            store = Store(profile.database)
            closing.callback(_close, store)
            parts = programs or Programs.of(profile), machine or this_machine(partial(torch_of, profile))
            engine = Engine(profile, store, *parts, time.time, announcer=announcer_here())
            restart = asyncio.run(_serve(profile, engine, closing))
    except IdlehiveError as error:
        # The parent process reads it; standard error is for logs.
        sys.stdout.buffer.write(msgspec.json.encode(error.message) + b"\n")
        return 1
    if restart:
        os.execve(sys.executable, core_command("core.engine"), core_environment())
    return 0


async def _serve(profile: Profile, engine: Engine, closing: contextlib.ExitStack) -> bool:
    """Serve until the end; True: start again, because the files of Idlehive were replaced."""
    restart, quitting, over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def end() -> None:
        """For good, also if it is about to start again."""
        restart.clear()
        quitting.set()

    def start_again() -> None:
        if not quitting.is_set():
            restart.set()
            quitting.set()

    async def on_quit() -> None:
        end()
        await over.wait()

    server = Server(engine, profile, on_quit)
    loop = asyncio.get_running_loop()
    if sys.platform != "win32":  # there, processes are ended without a signal
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end)
        loop.add_signal_handler(signal.SIGUSR1, start_again)
    with os_errors_as("socket_unusable", path=str(profile.socket)):
        await server.start()
    _log.info("Ready.")
    # Front ends can connect from here; slow imports come afterwards.
    loop.call_soon(engine.start)
    await quitting.wait()
    await engine.close()
    server.stop_listening()
    # Before the reply to Quit: after it, a front end may start the next engine at once.
    closing.close()
    over.set()
    # One turn of the loop for the replies.
    await asyncio.sleep(0)
    await server.close()
    _log.info("Ended.")
    return restart.is_set()


def _close(store: Store) -> None:
    try:
        store.close()
    except StoreError as error:
        _log.error("What was given last could not be written: %s", error)


if __name__ == "__main__":
    sys.exit(main())

"""The profile's socket: front ends send requests, a JSON object a line, and get replies, snapshots and events.

A faulty front end cannot delay the engine or another front end: lines and requests in flight are bounded, and a front
end that does not read is disconnected.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec

from core.api.decoding import decode
from core.api.errors import IdlehiveError, UsageError, WorldError
from core.api.intent import Contribute, GiveBack, Resume
from core.api.message import Message
from core.api.protocol import Event, Quit, QuitUnused, Refusal, Reply, Request, Subscribe, encode, request_decoder
from core.api.snapshot import Snapshot
from core.client import engine_socket
from core.client.profile import Profile
from core.engine.engine import Engine
from core.engine.server.commands import Commands

LONGEST_LINE = 1 << 20
"""Bytes of a request."""
MOST_CLIENTS = 32
ADMISSION_TIMEOUT = 1.0
"""Seconds that a further front end may wait for a free place."""
MOST_REQUESTS = 16
"""In flight on one connection; further ones stay unread."""
MOST_WAITING = 256
"""Unsent replies and events of one connection."""
CLOSE_TIMEOUT = 0.5
"""Seconds in which a front end may read the last replies and close the connection."""
DRAIN_TIMEOUT = 10.0
"""Seconds in which a front end must read what it was sent."""

_MOST_UNREAD = 4 << 20
"""Bytes that are read and discarded while a connection ends."""

_log = logging.getLogger(__name__)


class Server:
    def __init__(self, engine: Engine, profile: Profile, on_quit: Callable[[], Awaitable[None]]) -> None:
        self.engine = engine
        self.commands = Commands(engine, profile)
        self.on_quit = on_quit
        self._path = profile.socket
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(MOST_CLIENTS)
        self._is_for_a_while = self.is_kept = False
        """Whether the engine ends with the last front end that follows it; and whether it stays all the same, because
        somebody has asked it to keep contributing."""
        self._ending: asyncio.Future[None] | None = None

    async def start(self) -> None:
        """Listen. The caller holds the profile's lock, so a socket at the path belongs to an engine that has ended.

        Raises:
            OSError: the socket cannot be made.
        """
        self._path.unlink(missing_ok=True)
        self._server = await engine_socket.serve(self._serve, self._path, LONGEST_LINE)

    def stop_listening(self) -> None:
        """Free the path for another engine; connections stay open."""
        if self._server is not None:
            self._server.close()
        self._path.unlink(missing_ok=True)

    def quit_unused(self) -> bool:
        """Whether nobody follows the engine, so that it ends now."""
        self._is_for_a_while = True
        return self.end_if_unused()

    def end_if_unused(self) -> bool:
        ends = self._is_for_a_while and not (self.is_kept or self.engine.broadcast.is_followed)
        if ends and self._ending is None:
            self._ending = asyncio.ensure_future(self.on_quit())
        return ends

    async def close(self) -> None:
        """Close all connections after the front ends could read the last replies."""
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        client = _Client(self, reader, writer)
        self._clients.add(task)
        try:
            await self._admit(client)
        except asyncio.CancelledError:
            # Only `close` cancels, and it waits for this task.
            await client.finish()
        finally:
            self._clients.discard(task)

    async def _admit(self, client: "_Client") -> None:
        try:
            # A connection may have ended without being noticed yet.
            async with asyncio.timeout(ADMISSION_TIMEOUT):
                await self._places.acquire()
        except TimeoutError:
            client.refuse(0, UsageError("too_many_front_ends", most=MOST_CLIENTS))
            await client.finish()
            return
        try:
            await client.run()
        finally:
            self._places.release()


class _Client:
    """One connection: a reader, a task for each request, and a writer, none of which waits for another."""

    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._room = asyncio.Semaphore(MOST_REQUESTS)
        self._requests: set[asyncio.Task[None]] = set()
        self._outbox: deque[bytes] = deque()
        self._snapshot: tuple[Snapshot, bytes] | None = None
        """Only the latest snapshot of a state is sent."""
        self._something = asyncio.Event()
        self._ending = False
        self._borrowed: list[int] = []
        """The numbers of what this front end has borrowed."""
        self._writing = asyncio.ensure_future(self._write())

    async def run(self) -> None:
        """Serve until the front end disconnects or breaks the protocol."""
        try:
            await self._read()
        except (OSError, asyncio.IncompleteReadError):
            pass  # disconnected, perhaps within a line
        finally:
            self._server.engine.broadcast.remove(self._push)
        await self._give_back()
        self._server.end_if_unused()
        await self.finish()

    async def _give_back(self) -> None:
        """A front end that was killed cannot; what has been given back already has ended."""
        while self._borrowed:
            await self._server.commands.carry_out(GiveBack(self._borrowed.pop()))

    def refuse(self, number: int, error: IdlehiveError) -> None:
        self._send(encode(Refusal(number, error.message, isinstance(error, UsageError))))

    async def finish(self) -> None:
        """Close the connection after sending queued replies; running commands continue."""
        self._server.engine.broadcast.remove(self._push)
        self._ending = True
        self._writing.cancel()
        with contextlib.suppress(OSError, TimeoutError):
            if not self._writer.is_closing():
                self._writer.writelines(self._outbox)
                self._writer.write_eof()
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await self._discard_input()
        self._writer.transport.abort()

    async def _discard_input(self) -> None:
        """Read until the front end closes: closing on unread input would discard the last reply on its way."""
        left = _MOST_UNREAD
        while left > 0 and (data := await self._reader.read(1 << 16)):
            left -= len(data)

    async def _read(self) -> None:
        while True:
            try:
                text = await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError:
                self.refuse(0, UsageError("request_too_long", most=LONGEST_LINE))
                return
            try:
                request = decode(request_decoder, text)
            except msgspec.DecodeError as error:
                number = _number(text)
                self.refuse(number or 0, UsageError("request_unknown", detail=str(error)))
                if number is None:
                    return
                continue
            await self._room.acquire()
            task = asyncio.ensure_future(self._answer(request))
            self._requests.add(task)
            task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._requests.discard(task)
        self._room.release()

    async def _answer(self, request: Request) -> None:
        try:
            self._send(encode(Reply(request.id, await self._carry_out(request.command))))
        except IdlehiveError as error:
            self.refuse(request.id, error)
            return
        except Exception:  # noqa: BLE001 - a mistake in one command must not end the engine for all
            _log.exception("A fault of the program in %s", type(request.command).__name__)
            self.refuse(request.id, WorldError("engine_fault"))
            return
        if isinstance(request.command, Subscribe):
            self._push(self._server.engine.snapshot(), encode(self._server.engine.snapshot()))

    async def _carry_out(self, command: Any) -> Any:
        if isinstance(command, Subscribe):
            # The front end may have gone while its request waited for room.
            return None if self._ending else self._server.engine.broadcast.add(self._push)
        if isinstance(command, Quit):
            if command.with_front_ends:
                now = self._server.engine.clock()
                self._server.engine.broadcast.publish(Event("quitting", Message("quitting"), now))
            return await self._server.on_quit()
        if isinstance(command, QuitUnused):
            self._server.engine.broadcast.remove(self._push)
            return self._server.quit_unused()
        result = await self._server.commands.carry_out(command)
        self._server.is_kept |= isinstance(command, Resume) or (isinstance(command, Contribute) and not command.borrow)
        if isinstance(command, Contribute) and isinstance(result, int):
            self._borrowed.append(result)
            if self._ending:
                await self._give_back()
        return result

    def _push(self, message: Snapshot | Event, data: bytes) -> None:
        if not isinstance(message, Snapshot):
            self._send(data)
            return
        if self._snapshot is not None and self._snapshot[0].state != message.state:
            self._send(self._snapshot[1])
        self._snapshot = message, data
        self._something.set()

    def _send(self, data: bytes) -> None:
        if len(self._outbox) >= MOST_WAITING:
            self._disconnect("does not read")
            return
        self._outbox.append(data)
        self._something.set()

    async def _write(self) -> None:
        with contextlib.suppress(OSError):
            # Cancelling alone is not enough: wait_for can lose it if it is done at that moment.
            while not self._ending:
                await self._something.wait()
                self._something.clear()
                while self._outbox:
                    self._writer.write(self._outbox.popleft())
                if self._snapshot is not None:
                    self._writer.write(self._snapshot[1])
                    self._snapshot = None
                try:
                    async with asyncio.timeout(DRAIN_TIMEOUT):
                        await self._writer.drain()
                except TimeoutError:
                    self._disconnect("does not read")
                    return

    def _disconnect(self, why: str) -> None:
        _log.warning("A front end %s; it is disconnected.", why)
        self._server.engine.broadcast.remove(self._push)
        self._writer.transport.abort()


class _Numbered(msgspec.Struct):
    id: int


_NUMBERED = msgspec.json.Decoder(_Numbered)


def _number(text: bytes) -> int | None:
    """The number of an invalid request; None if it has none."""
    try:
        return decode(_NUMBERED, text).id
    except msgspec.DecodeError:
        return None

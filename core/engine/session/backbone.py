"""The embedded backbone of the practice project: at most one, while a session needs it."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.api import hosting
from core.api.errors import WorldError
from core.api.session import Hold, Resume
from core.engine.session.child_process import Child, start_child
from core.engine.session.place import Here
from core.system.priority import PROMPTLY

GRACE = 5.0
"""Seconds in which it must end after its stdin is closed."""

_log = logging.getLogger(__name__)


class Backbone:
    """Used in the event loop only."""

    def __init__(self, command: Sequence[str], runtime: Path, place: Here) -> None:
        self._command = command
        self._place = place
        self._runtime = runtime
        self._child: Child | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._served: asyncio.Future[str] | None = None
        self.is_paused = False
        """Running without a session."""

    async def serve(self, *, promptly: bool = False) -> str:
        """Resume the paused backbone, or start one after the last has ended; returns the manifest's URL once it serves.

        `promptly`: a person waits for it.

        Raises:
            WorldError: it cannot serve; has the backbone's own message if it sent one.
        """
        if self.is_paused and self._is_running and self._served is not None:
            self.is_paused = False
            self.send(Resume())
            return self._served.result()
        await self.stop()
        served: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._served = served
        command = [*self._command, PROMPTLY] if promptly else self._command
        self._child = child = await start_child(command, self._runtime, self._on_line, "host", self._place)
        ending = asyncio.ensure_future(child.ended.wait())
        waiting: set[asyncio.Future[Any]] = {served, ending}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if not served.done():
            raise WorldError("backbone_not_serving")
        return served.result()

    def pause(self) -> None:
        """Stop its computing until the next `serve`, which is then faster than a start."""
        if self._is_running and self._served is not None and self._served.done() and not self._served.exception():
            self.is_paused = True
            self.send(Hold())

    async def wait(self) -> None:
        if self._child is not None:
            await self._child.ended.wait()

    def send(self, command: hosting.HostCommand) -> None:
        if self._child is not None:
            self._child.send(hosting.encode(command))

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()

    def begin_to_stop(self) -> asyncio.Task[None]:
        """Ask it to end. The task is done when all its processes have ended."""
        self.is_paused = False
        if self._stopping is None or self._stopping.done():
            self._stopping = asyncio.ensure_future(self._stop())
        return self._stopping

    async def stop(self) -> None:
        """Ask it to end, and wait until all its processes have ended."""
        await asyncio.shield(self.begin_to_stop())

    @property
    def _is_running(self) -> bool:
        return self._child is not None and self._child.code is None

    async def _stop(self) -> None:
        if self._child is not None and self._child.code is None:
            await self._child.stop(GRACE)

    def _on_line(self, text: bytes) -> None:
        try:
            report = hosting.host_decoder.decode(text)
        except msgspec.DecodeError as error:
            _log.warning("The practice backbone sent a line that is no report: %s", error)
            return
        if self._served is None or self._served.done():
            return
        if isinstance(report, hosting.Serving):
            self._served.set_result(report.manifest_url)
        else:
            self._served.set_exception(WorldError(report.error))

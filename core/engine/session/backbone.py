"""The embedded backbone of the practice project: one at a time, for as long as a session needs it."""

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

GRACE = 5.0
"""Seconds in which it ends after its stdin is closed."""

_log = logging.getLogger(__name__)


class Backbone:
    """Used from the event loop alone."""

    def __init__(self, command: Sequence[str], runtime: Path) -> None:
        self._command = command
        self._runtime = runtime
        self._child: Child | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._served: asyncio.Future[str] | None = None
        self._resting = False
        """Kept without a session."""

    async def serve(self) -> str:
        """Go on with the one that rests, or start one after the one before has ended; the manifest's address, once it
        serves.

        Raises:
            WorldError: it cannot serve; with its own message where it sent one.
        """
        if self._resting and self.is_running and self._served is not None:
            self._resting = False
            self.send(Resume())
            return self._served.result()
        await self.stop()
        served: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._served = served
        self._child = child = await start_child(self._command, self._runtime, self._on_line, "host")
        ending = asyncio.ensure_future(child.ended.wait())
        waiting: set[asyncio.Future[Any]] = {served, ending}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if not served.done():
            raise WorldError("backbone_not_serving")
        return served.result()

    @property
    def is_running(self) -> bool:
        return self._child is not None and self._child.code is None

    def rest(self) -> None:
        """Compute nothing and wait for the next `serve`: to start takes longer than all else on the way back."""
        if self.is_running and self._served is not None and self._served.done() and not self._served.exception():
            self._resting = True
            self.send(Hold())

    @property
    def rests(self) -> bool:
        return self._resting

    async def wait(self) -> None:
        """Until none is running."""
        if self._child is not None:
            await self._child.ended.wait()

    def send(self, command: hosting.HostCommand) -> None:
        if self._child is not None:
            self._child.send(hosting.encode(command))

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()

    def begin_to_stop(self) -> asyncio.Task[None]:
        """Ask it to end. The task is done when nothing is left of it; nobody has to wait."""
        self._resting = False
        if self._stopping is None or self._stopping.done():
            self._stopping = asyncio.ensure_future(self._stop())
        return self._stopping

    async def stop(self) -> None:
        """Ask it to end, and wait until nothing is left of it."""
        await asyncio.shield(self.begin_to_stop())

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

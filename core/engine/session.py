"""One session as the engine sees it: what must be there before a trainer can start, the trainer, and the way back.

For the practice project an embedded backbone is started first and ended last. Whatever happens is told by one callback:
`Report`, `EpochDone` and `Fault` as they come, and at the very end, when no process is left, `Ended`.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from core.api import hosting
from core.api.client import core_command
from core.api.errors import UsageError, WorldError
from core.api.home import Home
from core.api.manifest import Manifest
from core.api.preferences import Limits
from core.api.session import (
    ApplyLimits,
    EpochDone,
    Fault,
    Leave,
    Report,
    Start,
    TrainerCommand,
    line,
    report_decoder,
)
from core.engine.catalogue import BUILTIN, Catalogue
from core.engine.credentials import Credentials
from core.engine.fetch import is_url
from core.engine.lifecycle import Ended
from core.engine.supervisor import Child, in_words
from core.store.projects import Project

HOST_GRACE = 5.0
"""Seconds in which the embedded backbone ends after its stdin is closed."""

_log = logging.getLogger(__name__)
News = Report | EpochDone | Fault | Ended


@dataclass(frozen=True)
class Programs:
    """What is run for a trainer and for an embedded backbone; tests put scripted ones here."""

    trainer: Sequence[str] = field(default_factory=lambda: core_command("core.trainer"))
    host: Sequence[str] = field(default_factory=lambda: core_command("core.host"))


@dataclass(frozen=True)
class Terms:
    """What a session is begun with."""

    project: Project
    limits: Limits


class Session:
    """Created in the event loop; begins at once."""

    def __init__(
        self,
        home: Home,
        terms: Terms,
        *,
        catalogue: Catalogue,
        credentials: Credentials,
        programs: Programs,
        tell: Callable[[News], None],
        name_run: Callable[[str], None],
    ) -> None:
        self._home = home
        self._terms = terms
        self._catalogue = catalogue
        self._credentials = credentials
        self._programs = programs
        self._tell = tell
        self._name_run = name_run
        self._limits = terms.limits
        self._host: Child | None = None
        self._trainer: Child | None = None
        self._trainer_pid: int | None = None
        self._served: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._origin = terms.project.source if is_url(terms.project.source) else None
        self._leaving = False
        self._error: str | None = None
        self._life = asyncio.ensure_future(self._live())
        # Not from within: a task that is cancelled before its first step never runs a line of its own.
        self._life.add_done_callback(lambda _: tell(Ended(self._error)))

    @property
    def pid(self) -> int | None:
        """The trainer's process, once it has reported."""
        return self._trainer_pid

    def send(self, command: TrainerCommand) -> None:
        if self._trainer is not None:
            self._trainer.send(line(command))

    def apply(self, limits: Limits) -> None:
        """Tell the trainer of limits that have changed. Those it starts with come in `Start`."""
        if limits != self._limits:
            self._limits = limits
            self.send(ApplyLimits(limits))

    def leave(self, seconds: float) -> None:
        """Ask for the session's end; what is only being prepared is dropped."""
        if self._leaving:
            return
        self._leaving = True
        if self._trainer is None:
            self._life.cancel()
        else:
            self.send(Leave(seconds))

    def kill(self) -> None:
        for child in (self._trainer, self._host):
            if child is not None:
                child.kill()

    async def _live(self) -> None:
        try:
            await self._run()
        except asyncio.CancelledError:
            # Only `leave` cancels, and what follows must still be done.
            if not self._leaving:
                raise
        except (UsageError, WorldError) as failure:
            # Leaving by itself: a `leave` that answers this news must not cut short the clearing up.
            self._leaving = True
            self._error = str(failure)
            self._tell(Fault(self._error, permanent=isinstance(failure, UsageError)))
        finally:
            await self._clear()

    async def _run(self) -> None:
        manifest = await self._manifest()
        if manifest.closed:
            raise UsageError(f"The organiser has ended {manifest.name}; thank you for helping.")
        self._name_run(manifest.run_id)
        token = await self._token()
        trainer = await self._start(self._programs.trainer, self._on_trainer_line, "trainer")
        self._trainer = trainer
        trainer.send(line(self._start_message(manifest, token, trainer)))
        code = await self._until_over(trainer)
        if code != 0 and not self._leaving:
            raise WorldError(in_words(code))

    async def _until_over(self, trainer: Child) -> int:
        """The trainer's exit code; a practice session is over too when its backbone is."""
        children = [child for child in (trainer, self._host) if child is not None]
        await asyncio.wait(
            [asyncio.ensure_future(child.ended.wait()) for child in children], return_when=asyncio.FIRST_COMPLETED
        )
        if trainer.code is None and not self._leaving:
            raise WorldError("The practice project's backbone ended unexpectedly.")
        await trainer.ended.wait()
        return trainer.code or 0

    async def _manifest(self) -> Manifest:
        project = self._terms.project
        if project.source != BUILTIN:
            return await self._catalogue.renewed(project)
        self._host = await self._start(
            [
                *self._programs.host,
                str(self._catalogue.practice_file),
                *("--embedded", "--companion", "--http", "127.0.0.1:0", "--state", str(self._home.practice)),
            ],
            self._on_host_line,
            "host",
        )
        ending = asyncio.ensure_future(self._host.ended.wait())
        waiting: set[asyncio.Future[Any]] = {self._served, ending}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if not self._served.done():
            raise WorldError("The practice project's backbone ended before it could serve.")
        self._origin = self._served.result()
        return await self._catalogue.renewed(project, self._origin)

    async def _token(self) -> str | None:
        project = self._terms.project
        return None if project.secret is None else await self._credentials.find(project.id, project.secret)

    async def _start(self, command: Sequence[str], on_line: Callable[[bytes], None], log: str) -> Child:
        starting = asyncio.ensure_future(
            Child.start(command, self._home.runtime, on_line, logging.getLogger(f"child.{log}"))
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A process that is half started cannot be taken back, only ended once it is there.
            await (await starting).stop(0.0)
            raise
        except OSError as error:
            raise WorldError(f"The session's process cannot be started: {error.strerror or error}.") from None

    def _start_message(self, manifest: Manifest, token: str | None, trainer: Child) -> Start:
        return Start(
            manifest=manifest,
            identity=str(self._home.identity),
            cache=str(self._home.cache),
            session_folder=str(trainer.folder),
            limits=self._limits,
            origin=self._origin,
            access_token=token,
        )

    def _on_trainer_line(self, text: bytes) -> None:
        if self._trainer_pid is None and self._trainer is not None:
            self._trainer_pid = self._trainer.pid
        try:
            news = report_decoder.decode(text)
        except msgspec.DecodeError as error:
            _log.warning("The trainer sent a line that is no report: %s", error)
            return
        self._tell(news)

    def _on_host_line(self, text: bytes) -> None:
        try:
            news = hosting.host_decoder.decode(text)
        except msgspec.DecodeError as error:
            _log.warning("The practice backbone sent a line that is no report: %s", error)
            return
        if self._served.done():
            return
        if isinstance(news, hosting.Serving):
            self._served.set_result(news.manifest_url)
        else:
            self._served.set_exception(WorldError(news.error))

    async def _clear(self) -> None:
        """End what is left, the trainer before the backbone it talks to."""
        for child in (self._trainer, self._host):
            if child is not None and child.code is None:
                await child.stop(HOST_GRACE)

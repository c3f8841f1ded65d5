"""One session: it prepares and starts a trainer, sends it commands, reports what it sends, and cleans up after it.

For the practice project an embedded backbone is started first and ended last. One callback gets `Report`, `EpochDone`,
`Remark` and `Fault` as they come and finally `Ended`, when all processes of the trainer have ended.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from core.api import session as api
from core.api.errors import UsageError, WorldError
from core.api.message import Message
from core.api.project.manifest import Manifest
from core.api.proxy import Proxy
from core.api.session_settings import SessionSettings
from core.client.profile import Profile
from core.engine.decision.states import Ended
from core.engine.projects.catalogue import BUILTIN, Catalogue
from core.engine.projects.credentials import Credentials
from core.engine.projects.fetch import is_url
from core.engine.projects.http_proxy import HttpProxy
from core.engine.session.backbone import Backbone
from core.engine.session.child_process import Child, abnormal_end, start_child
from core.engine.session.commands import Programs
from core.engine.session.practice import divide
from core.store.projects import Project
from core.system.priority import PROMPTLY

GRACE = 5.0
"""Seconds in which a trainer must end after its stdin is closed."""

_log = logging.getLogger(__name__)
SessionEvent = api.Report | api.EpochDone | api.Remark | api.Fault | Ended


@dataclass(frozen=True)
class Services:
    """What all sessions of an engine use."""

    profile: Profile
    programs: Programs
    backbone: Backbone
    catalogue: Catalogue
    credentials: Credentials
    proxy: HttpProxy
    report: Callable[[SessionEvent], None]
    name_run: Callable[[str], None]
    resumes_soon: Callable[[], bool]
    """Whether another session follows right after the computer's sleep: the backbone is then only paused."""


class Session:
    """Created in the event loop; starts at once."""

    def __init__(
        self, services: Services, project: Project, settings: SessionSettings, *, promptly: bool = False
    ) -> None:
        """`promptly`: a person waits for its start."""
        self._services = services
        self._backbone = services.backbone
        self._project = project
        self._settings = settings
        self._promptly = promptly
        self.gpu = settings.gpu
        """UUID of its GPU, empty for the processor."""
        self.pid: int | None = None
        """The trainer's process id, once it has reported."""
        self._child: Child | None = None
        self._trainer: Child | None = None
        """The child, once it has got its `Start`."""
        self._is_practice = project.source == BUILTIN
        self._origin = project.source if is_url(project.source) else None
        self._leaving = False
        self._error: Message | None = None
        self._task = asyncio.ensure_future(self._run_to_its_end())
        # Not inside the task: it runs nothing if it is cancelled before its first step.
        self._task.add_done_callback(lambda _: services.report(Ended(self._error)))

    def send(self, command: api.Hold | api.Resume) -> None:
        """Send it to the trainer and, in the practice project, to the backbone."""
        self.send_to_trainer(command)
        if self._is_practice:
            self._backbone.send(command)

    def apply(self, settings: SessionSettings) -> None:
        """Send the trainer changed settings; the first ones are in `Start`."""
        if settings != self._settings:
            self._settings = settings
            self.send_to_trainer(api.ApplySettings(self._parts()[0]))
            self._limit_companion()

    def _parts(self) -> tuple[SessionSettings, SessionSettings]:
        """Settings of the trainer and of the companion."""
        own = self._settings
        return divide(own, os.cpu_count() or 1) if self._is_practice else (own, own)

    def _limit_companion(self) -> None:
        if self._is_practice:
            self._backbone.send(api.ApplySettings(self._parts()[1]))

    def leave(self, command: api.Leave) -> None:
        """Ask the session to end; preparations are cancelled."""
        if self._leaving:
            return
        self._leaving = True
        if self._trainer is None:
            self._task.cancel()
        else:
            self._trainer.hasten()
            self.send_to_trainer(command)

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()
        if self._is_practice:
            self._backbone.kill()

    def send_to_trainer(self, command: api.TrainerCommand) -> None:
        if self._trainer is not None:
            self._trainer.send(api.encode(command))

    async def _run_to_its_end(self) -> None:
        try:
            await self._run()
        except asyncio.CancelledError:
            # Only `leave` cancels; the clean-up below must still run.
            if not self._leaving:
                raise
        except (UsageError, WorldError) as failure:
            # A `leave` in answer to this report must not cancel the clean-up.
            self._leaving = True
            self._error = failure.message
            self._services.report(api.Fault(self._error, permanent=isinstance(failure, UsageError)))
        finally:
            await self._clear()

    async def _run(self) -> None:
        # Early: the trainer needs seconds to load its libraries, in which the rest is prepared.
        programs, runtime = self._services.programs, self._services.profile.runtime
        command = list(programs.trainer)
        if self._promptly:
            command.append(PROMPTLY)
        place = programs.practice if self._is_practice else programs.place
        trainer = self._child = await start_child(command, runtime, self._on_line, "trainer", place)
        manifest = await self._manifest()
        if manifest.closed:
            raise UsageError("project_ended", name=manifest.name)
        self._services.name_run(manifest.run_id)
        token = await self._token()
        proxy = await self._services.proxy.current()
        self._trainer = trainer
        trainer.send(api.encode(self._start_message(manifest, token, proxy, trainer)))
        code = await self._until_over(trainer)
        if code != 0 and not self._leaving:
            raise WorldError(abnormal_end(code))

    async def _until_over(self, trainer: Child) -> int:
        """The trainer's exit code; a practice session also ends with its backbone."""
        ends: list[asyncio.Future[Any]] = [asyncio.ensure_future(trainer.ended.wait())]
        if self._is_practice:
            ends.append(asyncio.ensure_future(self._backbone.wait()))
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        if trainer.code is None and not self._leaving:
            raise WorldError("backbone_ended")
        await trainer.ended.wait()
        return trainer.code or 0

    async def _manifest(self) -> Manifest:
        if self._is_practice:
            self._origin = await self._backbone.serve(promptly=self._promptly)
            self._limit_companion()
        return await self._services.catalogue.renewed(self._project, self._origin if self._is_practice else None)

    async def _token(self) -> str | None:
        project = self._project
        return None if project.secret is None else await self._services.credentials.find(project.id, project.secret)

    def _start_message(self, manifest: Manifest, token: str | None, proxy: Proxy, trainer: Child) -> api.Start:
        profile, place = self._services.profile, self._services.programs.place
        return api.Start(
            manifest=manifest,
            identity=place.shared(profile.identity),
            volunteer=place.shared(profile.volunteer),
            cache=place.own(profile.cache),
            copies=place.own(profile.copies),
            session_folder=place.session_folder(trainer.folder),
            settings=self._parts()[0],
            origin=self._origin,
            access_token=token,
            proxy=proxy,
        )

    def _on_line(self, text: bytes) -> None:
        if self.pid is None and self._trainer is not None:
            self.pid = self._trainer.pid
        try:
            event = api.report_decoder.decode(text)
        except msgspec.DecodeError as error:
            _log.warning("The trainer sent a line that is no report: %s", error)
            return
        self._services.report(event)

    async def _clear(self) -> None:
        """End the trainer, then the backbone that it uses."""
        if self._child is not None and self._child.code is None:
            await self._child.stop(GRACE)
        if not self._is_practice:
            return
        if self._error is None and self._services.resumes_soon():
            self._backbone.pause()
            if self._backbone.is_paused:
                return
        stopping = self._backbone.begin_to_stop()
        # After a failure this session ends at once; the next one waits for the backbone's end.
        if self._error is None:
            await stopping

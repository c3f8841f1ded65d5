"""One session: it prepares and starts a trainer, sends it commands, reports what it sends, and cleans up after it.

For the practice project an embedded backbone is started first and ended last. One callback gets `Report`, `EpochDone`,
`Remark` and `Fault` as they come and finally `Ended`, when all processes of the trainer have ended.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from core.api.errors import UsageError, WorldError
from core.api.message import Message
from core.api.project.manifest import Manifest
from core.api.session import (
    ApplySettings,
    EpochDone,
    Fault,
    Hold,
    Leave,
    Remark,
    Report,
    Resume,
    Start,
    TrainerCommand,
    encode,
    report_decoder,
)
from core.api.session_settings import SessionSettings
from core.client.profile import Profile
from core.engine.decision.states import Ended
from core.engine.projects.catalogue import BUILTIN, Catalogue
from core.engine.projects.credentials import Credentials
from core.engine.projects.fetch import is_url
from core.engine.session.backbone import Backbone
from core.engine.session.child_process import Child, abnormal_end, start_child
from core.engine.session.practice import divide
from core.store.projects import Project

GRACE = 5.0
"""Seconds in which a trainer must end after its stdin is closed."""

_log = logging.getLogger(__name__)
SessionEvent = Report | EpochDone | Remark | Fault | Ended


@dataclass(frozen=True)
class Terms:
    project: Project
    settings: SessionSettings


class Session:
    """Created in the event loop; starts at once."""

    def __init__(
        self,
        profile: Profile,
        terms: Terms,
        *,
        catalogue: Catalogue,
        credentials: Credentials,
        backbone: Backbone,
        trainer: Sequence[str],
        report: Callable[[SessionEvent], None],
        name_run: Callable[[str], None],
        comes_back: Callable[[], bool] = lambda: False,
    ) -> None:
        self._profile = profile
        self._terms = terms
        self._catalogue = catalogue
        self._credentials = credentials
        self._backbone = backbone
        self._program = trainer
        self._report = report
        self._name_run = name_run
        self._comes_back = comes_back
        """Whether another session follows right after the computer's sleep: the backbone is then only paused."""
        self._settings = terms.settings
        self._recruit: Child | None = None
        """Started, but without a `Start` yet."""
        self._trainer: Child | None = None
        self._trainer_pid: int | None = None
        self._is_practice = terms.project.source == BUILTIN
        self._origin = terms.project.source if is_url(terms.project.source) else None
        self._leaving = False
        self._error: Message | None = None
        self._life = asyncio.ensure_future(self._live())
        # Not inside the task: it runs nothing if it is cancelled before its first step.
        self._life.add_done_callback(lambda _: report(Ended(self._error)))

    @property
    def pid(self) -> int | None:
        """The trainer's process id, once it has reported."""
        return self._trainer_pid

    @property
    def gpu(self) -> str:
        """UUID of its GPU, empty for the processor."""
        return self._terms.settings.gpu

    def send(self, command: TrainerCommand) -> None:
        if self._trainer is not None:
            self._trainer.send(encode(command))

    def hold(self) -> None:
        self._send_to_both(Hold())

    def resume(self) -> None:
        self._send_to_both(Resume())

    def apply(self, settings: SessionSettings) -> None:
        """Send the trainer changed settings; the first ones are in `Start`."""
        if settings != self._settings:
            self._settings = settings
            self.send(ApplySettings(self._parts()[0]))
            self._limit_companion()

    def _parts(self) -> tuple[SessionSettings, SessionSettings]:
        """Settings of the trainer and of the companion."""
        own = self._settings
        return divide(own, os.cpu_count() or 1) if self._is_practice else (own, own)

    def _limit_companion(self) -> None:
        if self._is_practice:
            self._backbone.send(ApplySettings(self._parts()[1]))

    def leave(self, seconds: float) -> None:
        """Ask the session to end; preparations are cancelled."""
        if self._leaving:
            return
        self._leaving = True
        if self._trainer is None:
            self._life.cancel()
        else:
            self.send(Leave(seconds))

    def kill(self) -> None:
        if self._recruit is not None:
            self._recruit.kill()
        if self._is_practice:
            self._backbone.kill()

    def _send_to_both(self, command: Hold | Resume) -> None:
        self.send(command)
        if self._is_practice:
            self._backbone.send(command)

    async def _live(self) -> None:
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
            self._report(Fault(self._error, permanent=isinstance(failure, UsageError)))
        finally:
            await self._clear()

    async def _run(self) -> None:
        # Early: the trainer needs seconds to load its libraries, in which the rest is prepared.
        trainer = self._recruit = await start_child(self._program, self._profile.runtime, self._on_line, "trainer")
        manifest = await self._manifest()
        if manifest.closed:
            raise UsageError("project_ended", name=manifest.name)
        self._name_run(manifest.run_id)
        token = await self._token()
        self._trainer = trainer
        trainer.send(encode(self._start_message(manifest, token, trainer)))
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
        project = self._terms.project
        if not self._is_practice:
            return await self._catalogue.renewed(project)
        self._origin = await self._backbone.serve()
        self._limit_companion()
        return await self._catalogue.renewed(project, self._origin)

    async def _token(self) -> str | None:
        project = self._terms.project
        return None if project.secret is None else await self._credentials.find(project.id, project.secret)

    def _start_message(self, manifest: Manifest, token: str | None, trainer: Child) -> Start:
        return Start(
            manifest=manifest,
            identity=str(self._profile.identity),
            volunteer=str(self._profile.volunteer),
            cache=str(self._profile.cache),
            copies=str(self._profile.copies),
            session_folder=str(trainer.folder),
            settings=self._parts()[0],
            origin=self._origin,
            access_token=token,
        )

    def _on_line(self, text: bytes) -> None:
        if self._trainer_pid is None and self._trainer is not None:
            self._trainer_pid = self._trainer.pid
        try:
            event = report_decoder.decode(text)
        except msgspec.DecodeError as error:
            _log.warning("The trainer sent a line that is no report: %s", error)
            return
        self._report(event)

    async def _clear(self) -> None:
        """End the trainer, then the backbone that it uses."""
        if self._recruit is not None and self._recruit.code is None:
            await self._recruit.stop(GRACE)
        if not self._is_practice:
            return
        if self._error is None and self._comes_back():
            self._backbone.pause()
            if self._backbone.is_paused:
                return
        stopping = self._backbone.begin_to_stop()
        # After a failure this session ends at once; the next one waits for the backbone's end.
        if self._error is None:
            await stopping

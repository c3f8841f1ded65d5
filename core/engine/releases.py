"""Looks for new versions once a day, and has one installed when the volunteer asks for it."""

import asyncio
import logging
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from msgspec.structs import replace

from core.api.errors import UsageError, WorldError
from core.api.installation.release import Offer, ReleaseStatus, Step
from core.api.message import Message
from core.api.preferences.preferences import Values
from core.api.proxy import Proxy
from core.client.installation import ROOT, core_command, package
from core.client.profile import Profile
from core.engine.machine.threads import in_thread
from core.engine.session.child_process import Child, start_child
from core.engine.snapshot import VERSION
from core.release.order import Done, Order, answers
from core.release.signed import Release, is_newer
from core.store.journal import Journal
from core.system import instances

DAY = 86_400.0
_SETTING = "release"
_RESTART_TIMEOUT = 10.0
_log = logging.getLogger(__name__)


class Known(msgspec.Struct, frozen=True):
    """What is kept of releases from one engine to the next."""

    checked_at: float | None = None
    number: int = 0
    """The highest of all release files that were seen."""
    release: Release | None = None


class Releases:
    """Used in the event loop only; `changed` is called when `status` has another value."""

    def __init__(
        self,
        profile: Profile,
        journal: Journal,
        changed: Callable[[], None],
        clock: Callable[[], float],
        proxy: Callable[[], Awaitable[Proxy]],
    ) -> None:
        self._folder, self._runtime = profile.path / "release", profile.runtime
        self._journal, self._changed, self._clock, self._proxy = journal, changed, clock, proxy
        installed = package()
        self._publisher = installed.publisher if installed else None
        self._known = _read(journal.read_setting(_SETTING))
        self._address = ""
        self._child: Child | None = None
        self.task: asyncio.Task[None] | None = None
        self.status = self._present()
        if self.status.offer is None:
            shutil.rmtree(self._folder, ignore_errors=True)  # a package that is installed by now

    def follow(self, now: float, preferences: Values, *, online: bool | None) -> None:
        """Check if a day has passed. Without a network the day's check waits."""
        self._address = preferences["release_address"] or (self._publisher.address if self._publisher else "")
        wanted = self._publisher and self._address and preferences["check_releases"]
        if wanted and online is not False and now >= self.next_at(now):
            self._begin("check")

    def next_at(self, now: float) -> float:
        """When the next check is due. A clock that was set back does not delay it by more than a day."""
        at = self._known.checked_at
        return now if at is None or at > now else at + DAY

    async def check(self) -> None:
        """Begin, once what runs has ended. Raises UsageError: nobody is named whom to ask."""
        await self._until_idle()
        self._begin("check")

    async def install(self) -> None:
        """Begin, once what runs has ended. Raises UsageError: nothing is offered."""
        await self._until_idle()
        if self.status.offer is None:
            raise UsageError("release_none")
        self._begin("install")

    async def close(self) -> None:
        if self._child is not None:
            self._child.kill()
        if self.task is not None and self.task is not asyncio.current_task():
            await asyncio.wait([self.task])

    async def _until_idle(self) -> None:
        while self.task is not None and not self.task.done():
            await asyncio.wait([self.task])

    def _begin(self, verb: str) -> None:
        publisher = self._publisher
        if publisher is None or not self._address:
            raise UsageError("release_no_publisher")
        if self.task is None or self.task.done():
            # Before it asks: an engine that is killed and starts again must not ask again.
            self._remember(replace(self._known, checked_at=self._clock()))
            self.task = asyncio.ensure_future(self._run(verb, publisher.keys))

    async def _run(self, verb: str, keys: tuple[str, ...]) -> None:
        done = Done(failure=Message("release_interrupted"))

        def on_line(line: bytes) -> None:
            nonlocal done
            try:
                message = answers.decode(line)
            except msgspec.DecodeError as error:
                _log.warning("The process for new versions sent a line that is no answer: %s", error)
                return
            if isinstance(message, Done):
                done = message
            else:
                self._follow(message.step, message.done)

        self._set(replace(self._present(), step="checking"))
        try:
            self._child = await start_child(core_command("core.release", verb), self._runtime, on_line, "release")
            self._child.send(msgspec.json.encode(self._order(keys, await self._proxy())) + b"\n")
            await self._child.ended.wait()
        except WorldError as error:
            done = Done(failure=error.message)
        self._child = None
        await self._end(verb, done)

    async def _end(self, verb: str, done: Done) -> None:
        if done.release is not None:
            self._remember(replace(self._known, number=done.release.number, release=done.release))
        replaced = verb == "install" and done.release is not None and not done.file
        self._set(replace(self._present(), failure=done.failure, file=done.file, installed=replaced))
        if replaced:
            _log.info("A new version is installed; what runs starts again.")
            await in_thread(partial(instances.restart, str(ROOT)), _RESTART_TIMEOUT)
            if sys.platform != "win32":  # no portable build exists there
                os.kill(os.getpid(), signal.SIGUSR1)

    def _order(self, keys: tuple[str, ...], proxy: Proxy) -> Order:
        kind, folder = self.status.package, str(self._folder)
        return Order(self._address, keys, self._known.number, kind, str(ROOT), folder, proxy)

    def _present(self) -> ReleaseStatus:
        found = package()
        if found is None or self._publisher is None:
            return ReleaseStatus()
        return ReleaseStatus(found.kind, self._known.checked_at, _offer(self._known.release, found.kind))

    def _follow(self, step: Step, done: int) -> None:
        self._set(replace(self.status, step=step, done=done))

    def _remember(self, known: Known) -> None:
        self._known = known
        self._journal.setting(_SETTING, msgspec.json.encode(known).decode())

    def _set(self, status: ReleaseStatus) -> None:
        if status != self.status:
            self.status = status
            self._changed()


def _offer(release: Release | None, kind: str) -> Offer | None:
    file = release.files.get(kind) if release else None
    if release is None or file is None or not is_newer(release.version, VERSION):
        return None
    return Offer(release.version, release.changelog, file.size)


def _read(text: str | None) -> Known:
    try:
        return msgspec.json.decode(text or "{}", type=Known)
    except msgspec.DecodeError:
        return Known()

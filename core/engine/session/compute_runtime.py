"""Installs and removes the compute runtime while the engine runs; sessions wait for it.

The installation is a process of its own (`core.runtime`), so that it can be killed at any moment.
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from core.api.errors import UsageError, WorldError
from core.api.installation.compute_runtime import ComputeRuntime
from core.api.message import Message
from core.api.proxy import Proxy
from core.client.installation import core_command, package
from core.client.profile import Profile
from core.conditions.nvml import installed_torch
from core.engine.machine.threads import in_thread
from core.engine.session.child_process import Child, start_child
from core.engine.session.place import Here, InWsl, Unwatched
from core.runtime import in_wsl
from core.runtime.store import RuntimeStore, StoreInWsl
from core.system.backoff import backoff

_LONGEST_SWEEP = 120.0
_log = logging.getLogger(__name__)


def torch_of(profile: Profile) -> Path | None:
    """The folder of the PyTorch that sessions use."""
    return installed_torch() if package() is None else RuntimeStore(profile.compute).library("torch")


class RuntimeInstaller:
    """Used in the event loop only; `changed` is called when `status` has another value, `proxy` before a download."""

    def __init__(
        self,
        profile: Profile,
        changed: Callable[[], None],
        clock: Callable[[], float],
        proxy: Callable[[], Awaitable[Proxy]],
        place: Here | None = None,
    ) -> None:
        """`place`: where sessions run, and so where the runtime has to be."""
        self._profile = profile
        self._proxy = proxy
        self._in_wsl = StoreInWsl(profile.compute) if isinstance(place, InWsl) else None
        self._store = self._in_wsl or RuntimeStore(profile.compute)
        self._changed = changed
        self._clock = clock
        self.task: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._child: Child | None = None
        self._failures = 0
        self.status = self._present()

    @property
    def is_installing(self) -> bool:
        return self.task is not None and not self.task.done()

    def begin(self, *, repair: bool = False, agreed: bool = False) -> None:
        """Install what is missing; with `repair` also what is there.

        Raises:
            UsageError: the volunteer has to agree first.
        """
        if agreed and self._in_wsl is not None:
            self._in_wsl.agree()
        if self._needs_consent:
            raise UsageError("wsl_needs_consent")
        if not self.is_installing and (repair or not self.status.ready):
            self.task = asyncio.ensure_future(self._install())

    async def remove(self, *, only_stop: bool = False) -> None:
        """Use it no more. It is deleted by the next `follow` without a session.

        With `only_stop` what is installed stays, and only the installation that runs is stopped.
        """
        await self._stop()
        if not only_stop:
            self._store.remove()
        elif self._store.current is None:
            self._store.stop()
        self._set(self._present())

    def follow(self, now: float, *, wanted: bool, in_session: bool) -> None:
        """Install what is wanted, try again what failed, and delete what no session uses any more."""
        status = self.status
        if wanted and not (status.ready or status.removed or self._needs_consent) and self._is_due(now):
            self.begin()
        if not in_session and not self.is_installing and self._needs_sweep():
            self._sweeping = asyncio.ensure_future(self._sweep())

    async def close(self) -> None:
        await self._stop()
        if self._sweeping is not None:
            with suppress(TimeoutError):
                await self._sweeping

    def _is_due(self, now: float) -> bool:
        retry_at = self.status.retry_at
        return not self.is_installing and (self.status.failure is None or (retry_at is not None and now >= retry_at))

    def _needs_sweep(self) -> bool:
        unswept = self._sweeping is None or self._sweeping.done()
        return unswept and not self.status.failure and self._store.has_leftovers(keep_cache=self._keeps_cache)

    @property
    def _keeps_cache(self) -> bool:
        """The next installation goes on with what was downloaded."""
        return not self.status.ready and (self._store.is_stopped or not self.status.removed)

    async def _sweep(self) -> None:
        with suppress(TimeoutError, OSError, WorldError):  # such as WSL's silence; the next one tries again
            await in_thread(partial(self._store.sweep, keep_cache=self._keeps_cache), _LONGEST_SWEEP)

    async def _install(self) -> None:
        self._set(msgspec.structs.replace(self._present(), step="preparing", removed=False))
        try:
            proxy = await self._proxy()
            module = "core.runtime" if self._in_wsl is None else "core.runtime.in_wsl"
            self._child = await start_child(
                core_command(module, str(self._profile.compute)),
                self._profile.runtime,
                self._on_line,
                "runtime",
                Unwatched() if sys.platform == "win32" else Here(),
            )
            # Not as an argument: others can read those.
            self._child.send(msgspec.json.encode(proxy) + b"\n")
            await self._child.ended.wait()
        except WorldError as error:
            self._fail(error.message)
            return
        finally:
            self._child = None
        if self.status.failure is not None:
            self._fail(self.status.failure)
        elif not self.status.ready or self.status.step is not None:
            self._fail(Message("runtime_interrupted"))
        else:
            self._failures = 0

    async def _stop(self) -> None:
        if self._child is not None:
            self._child.kill()
        elif self.task is not None:
            self.task.cancel()  # it has not started the process yet
        if self.task is not None:
            await asyncio.wait([self.task])

    def _on_line(self, line: bytes) -> None:
        try:
            status = msgspec.json.decode(line, type=ComputeRuntime)
        except msgspec.DecodeError as error:
            _log.warning("The installation of the compute runtime sent a line that is no status: %s", error)
            return
        # While it is repaired, sessions use the present one.
        self._set(msgspec.structs.replace(status, ready=status.ready or self._store.current is not None))

    def _fail(self, failure: Message) -> None:
        self._failures += 1
        retry_at = self._clock() + backoff(self._failures) if failure.kind in _ENDS_BY_ITSELF else None
        self._set(msgspec.structs.replace(self._present(), failure=failure, retry_at=retry_at))

    def _present(self) -> ComputeRuntime:
        if package() is None:
            return ComputeRuntime(ready=True)
        if self._in_wsl is not None:
            done, needed = in_wsl.finished(self._in_wsl.folder), self._needs_consent
            if done is None:
                return ComputeRuntime(removed=self._store.is_removed, needs_consent=needed)
            return ComputeRuntime(ready=True, build=done.build, gpus=done.gpus)
        ready, removed = self._store.current is not None, self._store.is_removed
        return ComputeRuntime(ready=ready, build=self._store.build, removed=removed)

    @property
    def _needs_consent(self) -> bool:
        return self._in_wsl is not None and not self._in_wsl.has_consent

    def _set(self, status: ComputeRuntime) -> None:
        if status != self.status:
            self.status = status
            self._changed()


_ENDS_BY_ITSELF = {"runtime_offline", "runtime_proxy", "runtime_interrupted", "runtime_wrong_file"}

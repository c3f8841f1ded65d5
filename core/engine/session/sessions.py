"""Runs at most one session: carries out the lifecycle's effects and has the last report."""

import contextlib
import os

import msgspec

from core.api import snapshot as api
from core.api.errors import WorldError
from core.api.session import Hold, Leave, Report, Resume, UseProxy
from core.api.session_settings import Limits, SessionSettings
from core.conditions.sleep.watch import SleepWatch
from core.engine.decision.states import Effect, Ended, KillGroup, StartSession
from core.engine.projects.identity import Identity
from core.engine.session.processor_use import ProcessorWatch
from core.engine.session.session import Services, Session, SessionEvent
from core.store.projects import Project

SILENT_AFTER = 5.0
"""Seconds without a report after which a session counts as silent; while it works, one comes every two."""
_KEPT_ON_HOLD = ("epoch", "peers", "epoch_samples", "own_epoch_samples")


class Sessions:
    """Used in the event loop."""

    def __init__(self, services: Services, identity: Identity, sleep: SleepWatch) -> None:
        self._services = services
        self._backbone = services.backbone
        self._identity = identity
        self._sleep = sleep
        self._processor = ProcessorWatch()
        self._session: Session | None = None
        self._wakes_before = 0
        """When the session began."""
        self._project, self._started_at = "", 0.0
        self.report: Report | None = None
        """The present session's last one."""
        self._heard_at: float | None = None
        """Its last report, or when it went on: on hold it reports only changes."""
        self._known: tuple[str, api.Progress] = "", api.Progress()
        """What the last session saw of its project's run."""

    @property
    def shown(self) -> api.Session | None:
        """The present session as front ends see it, once its trainer has reported."""
        pid = self._session.pid if self._session else None
        return None if pid is None else api.Session(pid, self._started_at)

    @property
    def gpu(self) -> str | None:
        """UUID of the present session's GPU, empty for the processor; None without a session."""
        return self._session.gpu if self._session else None

    @property
    def slept(self) -> bool:
        """Whether the computer has slept since the present session began."""
        return self._session is not None and self._sleep.now.wakes != self._wakes_before

    def silence(self, now: float) -> api.Silence | None:
        """Of the present session, if it is not on hold."""
        last = self._heard_at
        return api.Silence(last) if last is not None and now >= last + SILENT_AFTER else None

    def next_moment(self, now: float) -> float | None:
        """When the present session will be silent if it reports nothing before; None: it is."""
        last = self._heard_at
        return last + SILENT_AFTER if last is not None and now < last + SILENT_AFTER else None

    def processor_use(self, limits: Limits) -> api.ProcessorUse | None:
        return self._processor.read(limits.threads_on(os.cpu_count() or 2))

    def known_progress(self, project: str | None) -> api.Progress:
        """What the last session saw of the run, if it was this project's: nothing computes there now."""
        return self._known[1] if project == self._known[0] else api.Progress()

    def perform(self, effect: Effect, settings: SessionSettings, now: float, *, awaited: bool) -> None:
        """`awaited`: a person waits for it."""
        match effect:
            case StartSession(project=project):
                self._begin(self._services.catalogue.get(project), settings, now, promptly=awaited)
            case Hold() | Resume() if self._session is not None:
                self._session.send(effect)
                self._heard_at = now if self._heard_at is not None else None
            case Leave() if self._session is not None:
                self._session.leave(effect)
            case KillGroup() if self._session is not None:
                self._session.kill()

    def follow(self, event: SessionEvent | None, now: float) -> None:
        match event:
            case Report():
                if event.stage == "holding":
                    event = on_hold(event, self.report)
                self.report, self._heard_at = event, now
                self._processor.add(event, now)
                if event.progress.target_batch_size:
                    self._known = self._project, _at_rest(event.progress)
            case Ended():
                self._session = self.report = self._heard_at = None

    def apply(self, settings: SessionSettings) -> None:
        """Apply these settings to the present session."""
        if self._session is not None:
            self._session.apply(settings)

    def send(self, command: UseProxy) -> None:
        """Send it to the present session, if there is one."""
        if self._session is not None:
            self._session.send_to_trainer(command)

    def pause_backbone(self) -> None:
        """Without a session, allow sleep, and end a paused backbone that no session will use."""
        if self._session is not None:
            return
        if self._sleep.now.near:
            self._sleep.allow()
        elif self._backbone.is_paused:
            # Awake, but no session has started.
            self._backbone.begin_to_stop()

    async def close(self) -> None:
        await self._backbone.stop()

    def _begin(self, project: Project, settings: SessionSettings, now: float, *, promptly: bool) -> None:
        self.report = self._heard_at = None
        self._project, self._started_at = project.id, now
        self._processor.begin()
        self._wakes_before = self._sleep.now.wakes
        with contextlib.suppress(WorldError):
            # Created here: engine and session at once would create two keys. Without one, nothing is published.
            self._identity.create()
        self._session = Session(self._services, project, settings, promptly=promptly)


def on_hold(report: Report, before: Report | None) -> Report:
    """The batch and the peers stay as they were: peers count a resting one, and its samples, no longer. Pure."""
    if before is None or not before.progress.target_batch_size:
        return report
    kept = {name: getattr(before.progress, name) for name in _KEPT_ON_HOLD}
    return msgspec.structs.replace(report, progress=msgspec.structs.replace(report.progress, **kept))


def _at_rest(progress: api.Progress) -> api.Progress:
    """Where the run was, without what only a session has."""
    return msgspec.structs.replace(
        progress, samples=0, samples_per_second=0.0, swarm_samples_per_second=0.0, phase="accumulating"
    )

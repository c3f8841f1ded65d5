"""The engine: every input ends in one `update()`.

It observes, decides, runs the lifecycle, carries out the effects and publishes the snapshot. Nothing else changes the
state, so a lost or late input only delays the right decision.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo

import msgspec

from core.api.protocol import Event
from core.api.sensors import SensorInfo
from core.api.session import EpochDone, Fault, Remark, Report, UseProxy
from core.api.snapshot import DataMonth, Snapshot
from core.client.profile import Profile
from core.conditions.machine import Machine
from core.conditions.sleep.announcer import Announcer
from core.conditions.sleep.watch import SleepWatch
from core.engine.broadcast import Broadcast
from core.engine.decision import states
from core.engine.decision.decide import Decision
from core.engine.decision.intent import Intent
from core.engine.decision.lifecycle import forgive, lifecycle
from core.engine.decision.observation import Observation, decide_among, lift_failures, moments
from core.engine.decision.project_selection import Selection
from core.engine.decision.rules import gpu_rules, machine_rules
from core.engine.decision.states import Contributing, Effect, Ended, Failed, Idle, Starting, StartSession, State
from core.engine.machine import gpu_power
from core.engine.machine.alarms import Alarms
from core.engine.machine.gpu_power import PowerLimit
from core.engine.machine.sensor_thread import SensorThread, interval
from core.engine.machine.weekly_schedule import WeeklySchedule, local_zone
from core.engine.observer import Observer
from core.engine.projects.catalogue import PRACTICE, Catalogue
from core.engine.projects.credentials import Credentials
from core.engine.projects.http_proxy import HttpProxy
from core.engine.projects.identity import Identity
from core.engine.projects.pictures import Pictures
from core.engine.projects.ranking import Ranking
from core.engine.recorder import Recorder, ending, why
from core.engine.releases import Releases
from core.engine.session.backbone import Backbone
from core.engine.session.commands import Programs
from core.engine.session.compute_runtime import RuntimeInstaller
from core.engine.session.session import Services, SessionEvent
from core.engine.session.sessions import Sessions
from core.engine.snapshot import build_snapshot
from core.engine.stored_intent import StoredIntent
from core.store.store import Store
from core.system import proxy

_MOST_STEPS = 8
"""The lifecycle needs three at most; the bound keeps a mistake in it from looping."""

_log = logging.getLogger(__name__)


class Engine:
    """All methods are called in the event loop."""

    def __init__(
        self,
        profile: Profile,
        store: Store,
        programs: Programs,
        machine: Machine,
        clock: Callable[[], float],
        *,
        announcer: Announcer | None = None,
        read_zone: Callable[[], tzinfo] = local_zone,
    ) -> None:
        self.clock = clock
        self.store = store
        self.catalogue = Catalogue(store, profile.cache, clock)
        self.pictures = Pictures(profile.path / "pictures")
        self.credentials = Credentials(profile.path)
        self._proxy = HttpProxy(self.credentials, lambda chosen: self._sessions.send(UseProxy(chosen)))
        self.identity = Identity(profile.volunteer)
        self.ranking = Ranking(self.identity, self.update, clock)
        self.broadcast = Broadcast()
        self.preferences = store.preferences.load()
        self.weekly_schedule = WeeklySchedule(self.preferences["week"], read_zone)
        self.sensor_thread = SensorThread(machine, self.preferences["programs"], self.update)
        self._sleep = SleepWatch(announcer or Announcer(), self._request_update)
        self._power_limit = PowerLimit(
            profile.path / "gpu-power-limit.json", lambda refusal: self.publish(Event("warning", refusal, clock()))
        )
        self.runtime = RuntimeInstaller(profile, self.update, clock, self._proxy.current, programs.place)
        self.releases = Releases(profile, store.journal, self.update, clock, self._proxy.current)
        self._recorder = Recorder(store, self.publish)
        self._intent = StoredIntent(store.journal, resume=self.preferences["resume_at_start"])
        self._closing, self._changes = False, 0
        self.selection = Selection()
        self._observer = Observer(
            self.catalogue, self.weekly_schedule, self.sensor_thread, self._sleep, self._recorder, self.runtime
        )
        self._state: State = Idle()
        services = Services(
            profile,
            programs,
            Backbone(programs.host_for(PRACTICE, profile.practice), profile.runtime, programs.practice),
            self.catalogue,
            self.credentials,
            self._proxy,
            report=self.update,
            name_run=store.journal.name_run,
            resumes_soon=lambda: self.decision.waits_for_sleep_alone,
        )
        self._sessions = Sessions(services, self.identity, self._sleep)
        self._seen = self._observe(clock())
        self.decision, _ = self._decide()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = asyncio.Event()
        self._alarms: Alarms | None = None

    @property
    def intent(self) -> Intent:
        return self._intent.value

    @property
    def active_project(self) -> str | None:
        return None if isinstance(self._state, Idle | Failed) else self._state.project

    def start(self) -> None:
        """Start sensors and clock, and act on the stored intent."""
        self._loop = asyncio.get_running_loop()
        self._alarms = Alarms(self.update, self.clock)
        self._sleep.start()
        self._proxy.apply(self.preferences)
        self.sensor_thread.start()
        self.update()

    def want(self, intent: Intent, *, retry: bool = False) -> None:
        """Store the volunteer's intent and act on it. `retry`, at the wish to contribute, forgets earlier failures."""
        self._intent.set(intent)
        if retry:
            self._intent.asked_at = self.clock()
            self._state = forgive(self._state)
            self.selection = Selection()
        self.update()

    def update(self, event: SessionEvent | None = None) -> None:
        """Decide again. `event` is a session's report, if there is one."""
        now = self.clock()
        self._record(event, now)
        self._intent.pass_to(now)
        self._seen = self._observe(now)
        self._run_lifecycle(None if isinstance(event, EpochDone | Remark) else event, now)
        self._sessions.apply(self.decision.settings)
        self._recorder.follow(self._state, self.decision, now)
        self._recorder.set_zone(self.weekly_schedule.zone(now), now)
        self._recorder.flush(now)
        self._sessions.pause_backbone()
        self.runtime.follow(now, wanted=self.decision.wanted, in_session=self.active_project is not None)
        self.releases.follow(now, self.preferences, online=self.sensor_thread.readings.network.online)
        project = self.catalogue.get(self._state.project) if isinstance(self._state, Contributing) else None
        self.ranking.is_published = self.preferences["publish_contributions"]
        self._set_alarm(now, self.ranking.update(project, now))
        self.sensor_thread.set_interval(interval(self.decision, self._state))
        self._power_limit.apply(
            gpu_power.wanted(self.sensor_thread.readings.gpus, self.decision.effective, self._sessions.gpu)
        )
        self.broadcast.offer(self.snapshot())

    def snapshot(self) -> Snapshot:
        now, active, cap = self.clock(), self.active_project, self.preferences["data_cap"]
        selected = active or self.decision.project
        base = Snapshot(
            "idle",
            project=selected,
            project_name=self.catalogue.info(self.catalogue.get(selected)).name if selected else None,
            pinned=self.intent.project,
            wanted=self.intent.wanted,
            borrowed=self.intent.before is not None,
            borrowings=self.intent.borrowed,
            goals=self._intent.goals[-16:],
            goals_reached=len(self._intent.goals),
            progress=self._sessions.known_progress(selected),
            schedule=msgspec.structs.replace(self.decision.schedule, zone=self.weekly_schedule.zone_name(now)),
            anyway=self.intent.anyway,
            surroundings=machine_rules.surroundings(self.sensor_thread.readings),
            gpu=gpu_rules.gpu_use(self.sensor_thread.readings.gpus, self.decision.settings.gpu),
            processor=self._sessions.processor_use(self.decision.settings.limits),
            silence=self._sessions.silence(now),
            data_month=DataMonth(self._seen.conditions.network.used, cap) if cap else None,
            today=self._recorder.today(now),
            place=self.ranking.get(selected) if selected else None,
            compute=self.runtime.status,
            release=self.releases.status,
            changes=self.catalogue.changes + self._changes,
        )
        report, shown = self._sessions.report, self._sessions.shown
        return build_snapshot(base, self._state, self.decision, report, shown, no_peers=proxy.no_peers)

    async def sensors(self) -> list[SensorInfo]:
        """Once they have been read: before, they would all be said to be unknown."""
        await self.sensor_thread.was_read.wait()
        return [*self.sensor_thread.info(), self._sleep.info()]

    def publish(self, event: Event) -> None:
        """Record an event and send it to the subscribed front ends."""
        if event.kind != "epoch_done":
            self.store.journal.notice(event.kind, event.message, event.project, event.at)
        self.broadcast.publish(event)

    def reload_preferences(self) -> None:
        before, self.preferences = self.preferences, self.store.preferences.load()
        self._changes += 1
        self._state, self.selection = lift_failures(self._state, self.selection, before, self.preferences)
        self.weekly_schedule.change(self.preferences["week"])
        self.sensor_thread.detect_programs(self.preferences["programs"])
        self._proxy.apply(self.preferences)
        self.update()

    async def close(self) -> None:
        """End the session, by force if it does not obey; then stop sensors and clock."""
        self._closing = True
        self.update()
        await self._stopped.wait()
        await self._sessions.close()
        self._proxy.close()
        await self.runtime.close()
        await self.releases.close()
        if self._alarms is not None:
            self._alarms.close()
        self.sensor_thread.close()
        self._sleep.close()
        self._power_limit.restore()

    def _observe(self, now: float) -> Observation:
        intent = self.intent.at(now)
        if self._closing or not self.sensor_thread.ready:
            intent = intent.fulfilled()
        return self._observer.observe(now, intent, self.preferences)

    def _decide(self) -> tuple[Decision, Selection]:
        sessions = self._sessions
        conditions = replace(self._seen.conditions, session_gpu=sessions.gpu, slept=sessions.slept)
        return decide_among(replace(self._seen, conditions=conditions), self.selection, self._state)

    def _run_lifecycle(self, event: states.Input | None, now: float) -> None:
        for _ in range(_MOST_STEPS):
            self.decision, selection = self._decide()
            self._changes += selection.own_reasons != self.selection.own_reasons
            self.selection, before = selection, self._state
            self._state, effects = lifecycle(before, self.decision, event, now)
            event = None
            self._on_change(before, now)
            for effect in effects:
                self._perform(effect, now)
            if self._state == before:
                break

    def _request_update(self) -> None:
        """Called on the thread of the sleep watch."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.update)

    def _record(self, event: SessionEvent | None, now: float) -> None:
        self._sessions.follow(event, now)
        match event:
            case Report():
                if event.min_bandwidth and (project := self.active_project):
                    self._observer.measured_bandwidths[project] = event.min_bandwidth
                self._recorder.report(event, now, self.preferences["processor_power"])
                self._intent.reached(event.progress.epoch, self.active_project)
            case EpochDone():
                self._recorder.epoch(event)
                self._intent.reached(event.epoch, self.active_project)
            case Remark(message):
                _log.warning("%s", message)
                self.publish(Event("warning", message, now, self.active_project))
            case Fault():
                _log.warning("The session failed: %s", event.error)
            case Ended():
                self._recorder.end(event.error or ending(self._state, self.decision), now)

    def _perform(self, effect: Effect, now: float) -> None:
        if isinstance(effect, StartSession):
            project = self.catalogue.get(effect.project)
            self._recorder.begin(project.id, project.manifest.run_id if project.manifest else "", now)
        self._sessions.perform(effect, self.decision.settings, now, awaited=self._intent.is_awaited(now))

    def _on_change(self, before: State, now: float) -> None:
        after = self._state
        if type(after) is not type(before):
            _log.info("%s -> %s (%s)", type(before).__name__, type(after).__name__, why(after, self.decision))
        if isinstance(after, Failed) and not isinstance(before, Failed):
            self.publish(Event("session_failed", after.failure.error, now, project=after.project))
        if isinstance(after, Starting) and not isinstance(before, Starting):
            self._stopped.clear()
        if self._closing and isinstance(after, Idle | Failed):
            self.broadcast.close()  # an engine that ends is neither ready nor getting ready
            self._stopped.set()

    def _set_alarm(self, now: float, place_at: float | None) -> None:
        own = moments(self._seen, self.decision, self.selection, self._state)
        if self._alarms is not None:
            others = self._recorder.next_moment(now), self.runtime.status.retry_at, self._sessions.next_moment(now)
            self._alarms.set_first(*own, place_at, *others)

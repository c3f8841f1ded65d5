"""The engine: every input ends in one `update()`.

Read what is so, decide, let the lifecycle take its steps, carry out the effects, tell those who watch. Nothing else
changes the state, so a lost or a late input costs a little time and never the right answer.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from core.api.protocol import Event
from core.api.reasons import Kind
from core.api.sensors import SensorInfo
from core.api.session import EpochDone, Fault, Remark, Report
from core.api.snapshot import DataMonth, Snapshot
from core.client.profile import Profile
from core.conditions.machine import Machine
from core.conditions.sleep.watch import Announcer, Nobody, SleepWatch
from core.engine import log_texts
from core.engine.broadcast import Broadcast
from core.engine.decision import gpu_rules, machine_rules, network_rules, states
from core.engine.decision.decide import Conditions, Decision, Failure, Membership, decide
from core.engine.decision.intent import Intent
from core.engine.decision.lifecycle import forgive, lifecycle, next_moment
from core.engine.decision.memberships import JoinedProjects
from core.engine.decision.network_rules import NetworkUse
from core.engine.decision.schedule import WeeklySchedule
from core.engine.decision.states import Contributing, Effect, Ended, Failed, Idle, Starting, StartSession, State
from core.engine.decision.stored_intent import StoredIntent
from core.engine.machine import gpu_power
from core.engine.machine.alarms import Alarms
from core.engine.machine.gpu_power import PowerLimit
from core.engine.machine.sensor_thread import KEEN, RESTING, WATCHFUL, SensorThread
from core.engine.projects.catalogue import Catalogue
from core.engine.projects.credentials import Credentials
from core.engine.projects.identity import Identity
from core.engine.projects.pictures import Pictures
from core.engine.projects.ranking import Ranking
from core.engine.recorder import Recorder
from core.engine.session.commands import Programs
from core.engine.session.session import News
from core.engine.session.sessions import Sessions
from core.engine.snapshot import look
from core.store.store import Store

_SETTLES_WITHIN = 8
"""Steps; the lifecycle needs three at most, and a mistake in it must not spin."""
_WEEK = "week"

_log = logging.getLogger(__name__)


class Engine:
    """Lives in the event loop; all methods are called from there."""

    def __init__(
        self,
        profile: Profile,
        store: Store,
        programs: Programs,
        machine: Machine,
        clock: Callable[[], float],
        *,
        announcer: Announcer | None = None,
    ) -> None:
        self.clock = clock
        self.store = store
        self.catalogue = Catalogue(store, profile.cache, clock)
        self.pictures = Pictures(profile.path / "pictures")
        self.credentials = Credentials(profile.path)
        self.identity = Identity(profile.volunteer, store.journal)
        self.places = Ranking(self.update, clock)
        self.broadcast = Broadcast()
        self.preferences = store.preferences.load()
        self.weekly_schedule = WeeklySchedule(store.journal.read_setting(_WEEK))
        self.sensor_thread = SensorThread(machine, store.journal, self.update)
        self._sleep = SleepWatch(announcer or Nobody(), self._request_update)
        self._power_limit = PowerLimit(
            profile.path / "gpu-power-limit.json", lambda sentence: self.tell(Event("warning", sentence, clock()))
        )
        self._recorder = Recorder(store, self.tell)
        self._intent = StoredIntent(store.journal)
        self._closing = False
        self.joined_projects = JoinedProjects(self.catalogue)
        self._state: State = Idle()
        self._sessions = Sessions(
            profile,
            programs,
            self.catalogue,
            self.credentials,
            self.identity,
            sleep=self._sleep,
            tell=self.update,
            name_run=self._recorder.name_run,
            comes_back=self._comes_back,
        )
        self._decision = self._decide(clock())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rest = asyncio.Event()
        self._alarms: Alarms | None = None

    @property
    def intent(self) -> Intent:
        return self._intent.value

    @property
    def decision(self) -> Decision:
        return self._decision

    @property
    def active_project(self) -> str | None:
        return None if isinstance(self._state, Idle | Failed) else self._state.project

    def start(self) -> None:
        """Begin to follow the clock, and the intent of last time."""
        self._loop = asyncio.get_running_loop()
        self._alarms = Alarms(self.update, self.clock)
        self._sleep.start()
        self.sensor_thread.start()
        self.update()

    def want(self, intent: Intent, *, anew: bool = False) -> None:
        """Take the volunteer's intent; `anew` forgets earlier failures, since it is the volunteer who tries again."""
        self._intent.take(intent)
        if anew:
            self._state = forgive(self._state)
            self.joined_projects.anew()
        self.update()

    def paint_week(self, cells: str) -> None:
        """Take the volunteer's schedule."""
        self.weekly_schedule.paint(cells)
        self.store.journal.setting(_WEEK, cells)
        self.update()

    def update(self, news: News | None = None) -> None:
        """Look at everything again. `news` is what a session told, if this is why."""
        now = self.clock()
        self._note(news, now)
        self._settle(None if isinstance(news, EpochDone | Remark) else news, now)
        self._sessions.apply(self._decision.settings)
        self._recorder.watch(log_texts.idle_for(self._state, self._decision), now)
        self._recorder.settle(self.weekly_schedule.zone(now), now)
        self._recorder.keep(now)
        self._sessions.rest_between()
        self._set_alarm(now, self._ask_for_place(now))
        self.sensor_thread.attend(self._pace())
        self._power_limit.keep(
            gpu_power.wanted(self.sensor_thread.readings.gpus, self._decision.effective, self._sessions.gpu)
        )
        self.broadcast.offer(self.snapshot())

    def snapshot(self) -> Snapshot:
        now = self.clock()
        active = self.active_project
        selected = active or self._decision.project
        project = self.catalogue.get(selected) if selected else None
        return look(
            self._state,
            self._decision,
            self._sessions.report,
            project=self.catalogue.info(project) if project else None,
            pinned=self.intent.project,
            wanted=self.intent.wanted,
            today=self._recorder.today(now),
            place=self.places.get(selected) if selected else None,
            pid=self._sessions.pid,
            started_at=self._sessions.started_at,
            around=machine_rules.look(self.sensor_thread.readings),
            processor=self._sessions.processor_use(self._decision.settings.limits),
            gpu=gpu_rules.look(self.sensor_thread.readings.gpus, self._decision.settings.gpu),
            data_month=DataMonth(self._network_use(now).used, cap) if (cap := self.preferences["data_cap"]) else None,
        )

    def sensors(self) -> list[SensorInfo]:
        """What doctor says of them."""
        return [*self.sensor_thread.info(), self._sleep.info()]

    def tell(self, event: Event) -> None:
        """Tell those who watch, and write it down."""
        if event.kind != "epoch_done":
            self.store.journal.notice(event.kind, event.text, event.project, event.at)
        self.broadcast.tell(event)

    def reload_preferences(self) -> None:
        self.preferences = self.store.preferences.load()
        self.update()

    async def close(self) -> None:
        """End the session politely, or by force where it does not listen; then stop following the clock."""
        self._closing = True
        self.update()
        await self._rest.wait()
        await self._sessions.close()
        if self._alarms is not None:
            self._alarms.close()
        self.sensor_thread.close()
        self._sleep.close()
        self._power_limit.restore()
        self.broadcast.close()

    def _decide(self, now: float) -> Decision:
        intent = self._intent.at(now)
        asked = intent if self.sensor_thread.ready and not self._closing else intent.fulfilled()
        week, line, sleep = self.weekly_schedule.outlook(now), self._network_use(now), self._sleep.now
        slept = self._sessions.slept

        def judge(membership: Membership | None, failure: Failure | None, in_session: bool) -> Decision:
            session_gpu = self._sessions.gpu if in_session else None
            conditions = Conditions(failure, session_gpu, self.sensor_thread.readings, line, sleep.near, slept)
            return decide(asked, self.preferences, conditions, membership, now, week=week)

        decision = self.joined_projects.decide(asked.project, judge, self._state, now)
        return replace(decision, failures=self.joined_projects.earlier_failures())

    def _settle(self, news: states.News | None, now: float) -> None:
        """Let the lifecycle take its steps."""
        for _ in range(_SETTLES_WITHIN):
            self._decision = self._decide(now)
            before = self._state
            self._state, effects = lifecycle(before, self._decision, news, now)
            news = None
            self._tell_change(before, now)
            for effect in effects:
                self._perform(effect, now)
            if self._state == before:
                break

    def _request_update(self) -> None:
        """Called on the thread that watches for sleep."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.update)

    def _comes_back(self) -> bool:
        """Whether sleep is all that the session ends for."""
        kinds = {reason.kind for reason in self._decision.reasons}
        return self._decision.wanted and bool(kinds) and kinds <= {Kind.GOING_TO_SLEEP, Kind.WOKEN}

    def _network_use(self, now: float) -> NetworkUse:
        zone = self.weekly_schedule.zone(now)
        since = network_rules.month_begin(self.preferences["data_cap_day"], now, zone)
        used = self._recorder.used_since(since) if self.preferences["data_cap"] else 0
        return network_rules.look(self.preferences, used, now, zone)

    def _pace(self) -> float:
        if not self.intent.wanted:
            return RESTING
        watches = machine_rules.watches_volunteer(self._decision.effective, uses_gpu=self._decision.uses_gpu)
        return KEEN if watches and isinstance(self._state, Contributing) else WATCHFUL

    def _note(self, news: News | None, now: float) -> None:
        self._sessions.note(news, now)
        match news:
            case Report():
                if news.min_bandwidth and (project := self.active_project):
                    self.joined_projects.needs_bandwidth(project, news.min_bandwidth)
                self._recorder.report(news, now, self.preferences["processor_power"])
                self._intent.reached(news.progress.epoch)
            case EpochDone():
                self._recorder.epoch(news)
                self._intent.reached(news.epoch)
            case Remark(text):
                _log.warning("%s", text)
                self.tell(Event("warning", text, now, self.active_project))
            case Fault():
                _log.warning("The session failed: %s", news.error)
            case Ended():
                self._recorder.end(news.error or log_texts.ending(self._decision), now)

    def _perform(self, effect: Effect, now: float) -> None:
        if isinstance(effect, StartSession):
            project = self.catalogue.get(effect.project)
            self._recorder.begin(project.id, project.manifest.run_id if project.manifest else "", now)
        self._sessions.perform(effect, self._decision.settings, now)

    def _ask_for_place(self, now: float) -> float | None:
        """When to do so again."""
        if not self.preferences["publish_contributions"]:
            self.places.forget()
            return None
        project = self.catalogue.get(self._state.project) if isinstance(self._state, Contributing) else None
        return self.places.attend(project, lambda: self.identity.info().id, now)

    def _tell_change(self, before: State, now: float) -> None:
        after = self._state
        if type(after) is not type(before):
            _log.info("%s", log_texts.change(before, after, self._decision))
        if isinstance(after, Failed) and not isinstance(before, Failed):
            self.tell(Event("session_failed", after.failure.error, now, project=after.project))
        if isinstance(after, Starting) and not isinstance(before, Starting):
            self._rest.clear()
        if self._closing and isinstance(after, Idle | Failed):
            self._rest.set()

    def _set_alarm(self, now: float, place_at: float | None) -> None:
        moments = [
            self.intent.snoozed_until,
            self.intent.stop_at,
            self.intent.override_until,
            self._decision.schedule.next_at,
            next_moment(self._state),
            self._recorder.next_moment(now),
            machine_rules.next_moment(
                self.sensor_thread.readings, self._decision.effective, now, uses_gpu=self._decision.uses_gpu
            ),
            self._network_use(now).next_edge,
            place_at,
            *self.joined_projects.moments(),
            *(reason.until for reason in self._decision.reasons),
        ]
        if self._alarms is not None:
            self._alarms.at(min((moment for moment in moments if moment is not None), default=None))

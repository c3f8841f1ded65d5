"""Reads everything that a decision is made of, at one moment."""

from dataclasses import dataclass, field

from core.api.preferences.preferences import Values
from core.conditions.sleep.watch import SleepWatch
from core.engine.decision.facts import Conditions
from core.engine.decision.intent import Intent
from core.engine.decision.observation import Observation
from core.engine.decision.rules import network_rules
from core.engine.machine.sensor_thread import SensorThread
from core.engine.machine.weekly_schedule import WeeklySchedule
from core.engine.projects.catalogue import Catalogue
from core.engine.projects.memberships import memberships
from core.engine.recorder import Recorder
from core.engine.session.compute_runtime import RuntimeInstaller


@dataclass
class Observer:
    """Of one engine, whose parts it asks."""

    catalogue: Catalogue
    weekly_schedule: WeeklySchedule
    sensor_thread: SensorThread
    sleep: SleepWatch
    recorder: Recorder
    runtime: RuntimeInstaller
    measured_bandwidths: dict[str, int] = field(default_factory=dict)
    """By project: bytes per second below which its rounds cannot end, as measured by a session."""

    def observe(self, now: float, intent: Intent, preferences: Values) -> Observation:
        zone = self.weekly_schedule.zone(now)
        used = self.recorder.used_in_month(preferences, now, zone)
        return Observation(
            now=now,
            intent=intent,
            preferences=preferences,
            week=self.weekly_schedule.outlook(now),
            memberships=memberships(self.catalogue, intent.project, self.measured_bandwidths),
            conditions=Conditions(
                machine=self.sensor_thread.readings,
                network=network_rules.network_use(preferences, used, now, zone),
                near_sleep=self.sleep.now.near,
                compute_ready=self.runtime.status.ready,
            ),
        )

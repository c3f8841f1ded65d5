"""Carries out front ends' commands. The commands' docstrings name the results' types."""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import msgspec

from core.api.disk import FreeSpace, GetDiskUse
from core.api.errors import UsageError
from core.api.identity import ExportIdentity, GetIdentity, IdentityInfo, ImportIdentity
from core.api.installation.compute_runtime import InstallRuntime, RemoveRuntime
from core.api.installation.release import CheckRelease, InstallRelease
from core.api.intent import Contribute, GiveBack, Pause, Resume
from core.api.message import Message
from core.api.preferences.commands import ListPreferences, PreferenceInfo, ResetPreference, SetPreference
from core.api.preferences.preferences import preference_named
from core.api.preferences.value_types import Secret
from core.api.project import projects
from core.api.project.demonstration import GetDemonstration
from core.api.protocol import Command, Event, GetSnapshot
from core.api.reasons import OVERRIDABLE
from core.api.record import record
from core.api.record.events import GetEvents
from core.api.sensors import GetSensors
from core.client.profile import Profile
from core.engine.decision.preference_info import preference_info
from core.engine.engine import Engine
from core.engine.machine.disk import Disk
from core.engine.projects.credentials import WARNING
from core.engine.server.history_queries import HistoryQueries
from core.store.projects import Project

_LONGEST = 366 * 86_400.0
"""Seconds, at most, of a pause or a contribution."""
_LONGEST_SECRET = 4096


class Commands:
    def __init__(self, engine: Engine, profile: Profile) -> None:
        self._engine = engine
        self._numbers = count(1)
        """Of what is borrowed."""
        disk = Disk(profile)
        history = HistoryQueries(engine)
        self._handlers: dict[type[Any], Callable[[Any], Any]] = {
            GetSnapshot: lambda _: engine.snapshot(),
            GetSensors: lambda _: engine.sensors(),
            Contribute: self._contribute,
            Pause: self._pause,
            GiveBack: lambda command: engine.want(engine.intent.given_back(command.number)),
            Resume: lambda _: engine.want(engine.intent.resume(), retry=True),
            projects.ListProjects: lambda _: self._list_projects(),
            projects.ShowProject: self._show_project,
            projects.AddProject: self._add_project,
            projects.JoinProject: self._join_project,
            projects.LeaveProject: self._leave_project,
            projects.RemoveProject: self._remove_project,
            projects.OrderProjects: self._order_projects,
            projects.GetPicture: lambda command: engine.pictures.get(engine.catalogue.get(command.project)),
            GetDemonstration: lambda command: engine.catalogue.demonstration(command.project),
            projects.GetCurve: lambda command: engine.catalogue.curve(command.project),
            ListPreferences: lambda _: [self._preference(name) for name in engine.preferences],
            SetPreference: self._set_preference,
            ResetPreference: self._reset_preference,
            record.GetHistory: self._get_history,
            record.GetOverview: history.overview,
            record.GetHabits: history.habits,
            record.GetSessions: history.sessions,
            GetEvents: history.events,
            record.ExportHistory: history.export,
            record.ImportHistory: history.import_file,
            record.DeleteHistory: history.delete,
            GetDiskUse: lambda _: disk.use(in_session=engine.active_project is not None),
            FreeSpace: lambda _: disk.free(in_session=engine.active_project is not None),
            InstallRuntime: lambda command: engine.runtime.begin(repair=command.repair, agreed=command.agreed),
            RemoveRuntime: lambda command: engine.runtime.remove(only_stop=command.only_stop),
            CheckRelease: lambda _: engine.releases.check(),
            InstallRelease: lambda _: engine.releases.install(),
            GetIdentity: lambda _: engine.identity.info(),
            ExportIdentity: lambda command: engine.identity.export(command.passphrase),
            ImportIdentity: self._import_identity,
        }

    async def carry_out(self, command: Command) -> Any:
        """The command's result. The server itself carries out `Subscribe` and `Quit`.

        Raises:
            UsageError, WorldError: the command failed.
        """
        result = self._handlers[type(command)](command)
        return await result if isinstance(result, Awaitable) else result

    async def _contribute(self, command: Contribute) -> int | None:
        seconds = _duration(command.seconds)
        if command.until_epoch is not None and command.until_epoch < 1:
            raise UsageError("epoch_too_small", epoch=command.until_epoch)
        if unknown := set(command.anyway) - OVERRIDABLE:
            raise UsageError("reason_not_overridable", kind=min(unknown))
        engine = self._engine
        project = await engine.catalogue.find(command.project)
        self._join(project)
        now = engine.clock()
        until = None if seconds is None else now + seconds
        chosen, week = command.project and project.id, engine.weekly_schedule.outlook(now)
        intent = engine.intent.contribute(
            chosen,
            until,
            command.until_epoch,
            override=command.override,
            anyway=command.anyway,
            week=week,
            borrow=next(self._numbers) if command.borrow else 0,
        )
        engine.want(intent, retry=True)
        return intent.number or None

    def _pause(self, command: Pause) -> None:
        now, seconds = self._engine.clock(), _duration(command.seconds)
        until = None if seconds is None else now + seconds
        if seconds is None and command.until == "next_edge":
            until = self._engine.weekly_schedule.outlook(now).next_at
            if until is None:
                raise UsageError("schedule_never_changes")
        self._engine.want(self._engine.intent.pause(until))

    def _list_projects(self) -> list[projects.ProjectInfo]:
        return [self._info(project.id) for project in self._engine.catalogue.all()]

    def _show_project(self, command: projects.ShowProject) -> projects.ProjectDetails:
        catalogue = self._engine.catalogue
        details = catalogue.details(catalogue.get(command.project), self._engine.active_project)
        return msgspec.structs.replace(details, place=self._engine.ranking.get(details.info.id))

    async def _add_project(self, command: projects.AddProject) -> projects.ProjectInfo:
        return self._info((await self._engine.catalogue.add(command.source)).id)

    async def _join_project(self, command: projects.JoinProject) -> projects.ProjectInfo:
        if command.invite is not None and not 0 < len(command.invite) <= _LONGEST_SECRET:
            raise UsageError("invite_length", most=_LONGEST_SECRET)
        project = await self._engine.catalogue.find(command.project)
        self._join(project)
        if command.invite is not None:
            await self._store_invite(project.id, command.invite)
        self._engine.update()
        return self._info(project.id)

    async def _leave_project(self, command: projects.LeaveProject) -> projects.ProjectInfo:
        engine = self._engine
        project = engine.catalogue.get(command.project)
        if project.joined_at is None:
            raise UsageError("not_a_member", project=project.id)
        if project.secret is not None:
            await engine.credentials.forget(project.id, project.secret)
        engine.catalogue.leave(project.id)
        info = self._info(project.id)
        engine.publish(Event("left", Message("left", {"name": info.name}), engine.clock(), project.id))
        # A volunteer who chose this project did not choose the next one in the list.
        engine.want(engine.intent.without(project.id))
        return self._info(project.id)

    def _remove_project(self, command: projects.RemoveProject) -> None:
        self._engine.catalogue.remove(command.project)
        self._engine.update()

    def _order_projects(self, command: projects.OrderProjects) -> list[projects.ProjectInfo]:
        self._engine.catalogue.order(command.projects)
        self._engine.want(self._engine.intent, retry=True)
        return self._list_projects()

    async def _import_identity(self, command: ImportIdentity) -> IdentityInfo:
        info = await self._engine.identity.import_key(command.text, command.passphrase, replace=command.replace)
        self._engine.ranking.forget()
        return info

    async def _set_preference(self, command: SetPreference) -> PreferenceInfo:
        engine, name, value = self._engine, command.name, command.value
        if isinstance(secret := preference_named(name).type, Secret):
            value = await self._store_secret(name, secret.check_secret(name, value))
        engine.store.preferences.set(name, value)
        engine.reload_preferences()
        if isinstance(secret, Secret):
            # Its value is the same as before; what failed by the old secret is tried again.
            engine.want(engine.intent, retry=True)
        return self._preference(name)

    async def _reset_preference(self, command: ResetPreference) -> PreferenceInfo:
        if isinstance(preference_named(command.name).type, Secret):
            await self._store_secret(command.name, "")
        self._engine.store.preferences.reset(command.name)
        self._engine.reload_preferences()
        return self._preference(command.name)

    def _get_history(self, command: record.GetHistory) -> list[record.Contribution]:
        return self._engine.store.history.contributions(command.since, after=command.after, most=record.MOST_HOURS)

    def _join(self, project: Project) -> None:
        engine = self._engine
        if engine.catalogue.join(project):
            name = self._info(project.id).name
            engine.publish(Event("joined", Message("joined", {"name": name}), engine.clock(), project.id))

    async def _store_secret(self, name: str, secret: str) -> str:
        """Where it is kept now; an empty secret is forgotten."""
        engine = self._engine
        if before := engine.preferences[name]:
            await engine.credentials.forget(name, before)
        if not secret:
            return ""
        keeper = await engine.credentials.store(name, secret)
        if keeper == "file":
            engine.publish(Event("warning", Message("password_in_file"), engine.clock()))
        return keeper

    async def _store_invite(self, project: str, invite: str) -> None:
        engine = self._engine
        keeper = await engine.credentials.store(project, invite)
        engine.store.projects.set_keeper(project, keeper)
        engine.catalogue.reload()
        if keeper == "file":
            engine.publish(Event("warning", WARNING, engine.clock(), project))

    def _info(self, id: str) -> projects.ProjectInfo:  # noqa: A002 - the field's name
        engine = self._engine
        info = engine.catalogue.info(engine.catalogue.get(id), engine.active_project)
        return msgspec.structs.replace(info, reasons=engine.selection.reasons(id))

    def _preference(self, name: str) -> PreferenceInfo:
        decision = self._engine.decision
        return preference_info(name, self._engine.preferences, decision.effective, decision.schedule.level)


def _duration(seconds: float | None) -> float | None:
    if seconds is not None and not 0 < seconds <= _LONGEST:
        raise UsageError("duration_out_of_range", seconds=seconds)
    return seconds

"""What each command of a front end does. Results are the types that `core.api.messages` names."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from core.api import identity, messages, program_names, record, schedule
from core.api.errors import UsageError
from core.api.messages import Contribution, CurvePoint, Event, LimitInfo, Picture, ProjectDetails, ProjectInfo
from core.api.schedule import ScheduleInfo
from core.api.sensors import SensorInfo
from core.api.snapshot import Snapshot
from core.api.week_text import preset_cells
from core.engine.bookkeeping import Bookkeeping
from core.engine.credentials import WARNING
from core.engine.engine import Engine
from core.engine.limit_info import limit_info
from core.store.projects import Project

_LONGEST = 366 * 86_400.0
"""Seconds that a pause or a contribution may be asked for."""
_LONGEST_SECRET = 4096


class Commands:
    """Carries out commands against one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        books = Bookkeeping(engine)
        self._handlers: dict[type[Any], Callable[[Any], Any]] = {
            messages.GetSnapshot: self._get_snapshot,
            messages.Pause: self._pause,
            messages.Resume: self._resume,
            messages.ListProjects: self._list_projects,
            messages.ShowProject: self._show_project,
            messages.LeaveProject: self._leave_project,
            messages.OrderProjects: self._order_projects,
            messages.GetPicture: self._get_picture,
            messages.ShowLimits: self._show_limits,
            messages.SetLimit: self._set_limit,
            messages.ResetLimit: self._reset_limit,
            messages.GetSchedule: self._get_schedule,
            messages.SetSchedule: self._set_schedule,
            messages.ClearSchedule: self._clear_schedule,
            messages.GetPrograms: self._get_programs,
            messages.SetPrograms: self._set_programs,
            messages.GetSensors: self._get_sensors,
            messages.GetHistory: self._get_history,
            messages.Contribute: self._contribute,
            messages.AddProject: self._add_project,
            messages.JoinProject: self._join_project,
            messages.GetCurve: self._get_curve,
            record.GetOverview: books.overview,
            record.GetHabits: books.habits,
            record.GetSessions: books.sessions,
            record.ExportHistory: books.export,
            record.ImportHistory: books.take,
            record.DeleteHistory: books.delete,
            identity.GetIdentity: lambda _: engine.identity.info(),
            identity.SetDisplayName: self._set_display_name,
            identity.ExportIdentity: lambda command: engine.identity.export(command.passphrase),
            identity.ImportIdentity: self._import_identity,
        }

    async def carry_out(self, command: messages.Command) -> Any:
        """The command's result. `Subscribe` and `Quit` are the server's own.

        Raises:
            UsageError, WorldError: it was not carried out.
        """
        result = self._handlers[type(command)](command)
        return await result if isinstance(result, Awaitable) else result

    async def _contribute(self, command: messages.Contribute) -> None:
        seconds = _duration(command.seconds)
        if command.until_epoch is not None and command.until_epoch < 1:
            raise UsageError(f"The epoch to stop at must be at least 1, not {command.until_epoch}.")
        engine = self._engine
        project = await engine.catalogue.find(command.project)
        self._join(project)
        now = engine.clock()
        until = None if seconds is None else now + seconds
        chosen, week = command.project and project.id, engine.timetable.outlook(now)
        intent = engine.intent.contribute(chosen, until, command.until_epoch, override=command.override, week=week)
        engine.want(intent, anew=True)

    def _pause(self, command: messages.Pause) -> None:
        now, seconds = self._engine.clock(), _duration(command.seconds)
        until = None if seconds is None else now + seconds
        if seconds is None and command.until == "next_edge":
            until = self._engine.timetable.outlook(now).next_at
            if until is None:
                raise UsageError("Your schedule never changes: pause for a while, or until you resume.")
        self._engine.want(self._engine.intent.pause(until))

    def _resume(self, _command: messages.Resume) -> None:
        self._engine.want(self._engine.intent.resume(), anew=True)

    def _get_snapshot(self, _command: messages.GetSnapshot) -> Snapshot:
        return self._engine.snapshot()

    def _list_projects(self, _command: messages.ListProjects) -> list[ProjectInfo]:
        return [self._info(project.id) for project in self._engine.catalogue.all()]

    def _show_project(self, command: messages.ShowProject) -> ProjectDetails:
        catalogue = self._engine.catalogue
        details = catalogue.details(catalogue.get(command.project), self._engine.active_project)
        return msgspec.structs.replace(details, place=self._engine.places.get(details.info.id))

    async def _add_project(self, command: messages.AddProject) -> ProjectInfo:
        return self._info((await self._engine.catalogue.add(command.source)).id)

    async def _join_project(self, command: messages.JoinProject) -> ProjectInfo:
        if command.invite is not None and not 0 < len(command.invite) <= _LONGEST_SECRET:
            raise UsageError(f"An invite has 1 to {_LONGEST_SECRET} characters.")
        project = await self._engine.catalogue.find(command.project)
        self._join(project)
        if command.invite is not None:
            await self._keep(project.id, command.invite)
        self._engine.update()
        return self._info(project.id)

    async def _leave_project(self, command: messages.LeaveProject) -> ProjectInfo:
        engine = self._engine
        project = engine.catalogue.get(command.project)
        if project.joined_at is None:
            raise UsageError(f"You are not in the project {project.id!r}.")
        if project.secret is not None:
            await engine.credentials.forget(project.id, project.secret)
        engine.catalogue.leave(project.id)
        engine.tell(Event("left", f"You left {self._info(project.id).name}.", engine.clock(), project.id))
        # Whoever asked for this very project did not ask for the next one in the list.
        engine.want(engine.intent.without(project.id))
        return self._info(project.id)

    def _order_projects(self, command: messages.OrderProjects) -> list[ProjectInfo]:
        self._engine.catalogue.order(command.projects)
        self._engine.want(self._engine.intent, anew=True)
        return self._list_projects(messages.ListProjects())

    async def _get_picture(self, command: messages.GetPicture) -> Picture | None:
        return await self._engine.pictures.get(self._engine.catalogue.get(command.project))

    def _set_display_name(self, command: identity.SetDisplayName) -> identity.IdentityInfo:
        self._engine.identity.name(command.name)
        self._engine.update()
        return self._engine.identity.info()

    async def _import_identity(self, command: identity.ImportIdentity) -> identity.IdentityInfo:
        info = await self._engine.identity.take(command.text, command.passphrase, replace=command.replace)
        self._engine.places.forget()
        return info

    def _show_limits(self, _command: messages.ShowLimits) -> list[LimitInfo]:
        return [self._limit(name) for name in self._engine.preferences]

    def _set_limit(self, command: messages.SetLimit) -> LimitInfo:
        self._engine.store.preferences.set(command.name, command.value)
        self._engine.reload_preferences()
        return self._limit(command.name)

    def _reset_limit(self, command: messages.ResetLimit) -> LimitInfo:
        self._engine.store.preferences.reset(command.name)
        self._engine.reload_preferences()
        return self._limit(command.name)

    def _get_schedule(self, _command: messages.GetSchedule) -> ScheduleInfo:
        return self._engine.timetable.info(self._engine.clock())

    def _set_schedule(self, command: messages.SetSchedule) -> ScheduleInfo:
        if (command.preset is None) == (command.cells is None):
            raise UsageError("A schedule is either a preset or cells.")
        self._engine.paint_week(preset_cells(command.preset) if command.preset else schedule.read(command.cells or ""))
        return self._engine.timetable.info(self._engine.clock())

    def _clear_schedule(self, _command: messages.ClearSchedule) -> ScheduleInfo:
        self._engine.paint_week(preset_cells("always"))
        return self._engine.timetable.info(self._engine.clock())

    def _get_programs(self, _command: messages.GetPrograms) -> list[str]:
        return list(self._engine.senses.awaited)

    def _set_programs(self, command: messages.SetPrograms) -> list[str]:
        names = program_names.checked(command.names)
        self._engine.wait_for(names)
        return list(names)

    def _get_sensors(self, _command: messages.GetSensors) -> list[SensorInfo]:
        return self._engine.sensors()

    async def _get_curve(self, command: messages.GetCurve) -> list[CurvePoint]:
        return await self._engine.catalogue.curve(command.project)

    def _get_history(self, command: messages.GetHistory) -> list[Contribution]:
        return self._engine.store.history.contributions(command.since, after=command.after, most=messages.MOST_HOURS)

    def _join(self, project: Project) -> None:
        engine = self._engine
        if engine.catalogue.join(project):
            engine.tell(Event("joined", f"You joined {self._info(project.id).name}.", engine.clock(), project.id))

    async def _keep(self, project: str, invite: str) -> None:
        engine = self._engine
        keeper = await engine.credentials.keep(project, invite)
        engine.store.projects.keep_secret(project, keeper)
        engine.catalogue.reload()
        if keeper == "file":
            engine.tell(Event("warning", WARNING, engine.clock(), project))

    def _info(self, id: str) -> ProjectInfo:  # noqa: A002 - the project's own word
        engine = self._engine
        info = engine.catalogue.info(engine.catalogue.get(id), engine.active_project)
        return msgspec.structs.replace(info, reasons=engine.contenders.reasons(id))

    def _limit(self, name: str) -> LimitInfo:
        decision = self._engine.decision
        return limit_info(name, self._engine.preferences, decision.counts, decision.schedule.level)


def _duration(seconds: float | None) -> float | None:
    if seconds is not None and not 0 < seconds <= _LONGEST:
        raise UsageError(f"A duration must be more than 0 and at most a year, not {seconds:g} seconds.")
    return seconds

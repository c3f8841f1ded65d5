"""Front ends' commands on the record: sums over years, export, import and deletion.

Slow ones run on a thread, on a view of the file as it was at the time of the command.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from core.api.errors import UsageError, WorldError, os_errors_as
from core.api.project.manifest import Manifest
from core.api.record import record as api
from core.api.record.events import GetEvents, PastEvent
from core.engine.engine import Engine
from core.engine.machine.threads import in_thread
from core.engine.projects.catalogue import BUILTIN
from core.store.database import StoreError
from core.store.export import exchange
from core.store.export.history_csv import as_csv
from core.store.export.history_file import File, as_json
from core.store.queries.events import events
from core.store.queries.habits import habits
from core.store.queries.overview import overview
from core.store.queries.sessions import sessions
from core.store.queries.view import View
from core.system.atomic_file import write_atomically

Result = TypeVar("Result")
_SECONDS = 30.0
"""For an answer; a later one is of no use."""
_FILE_SECONDS = 300.0
_RECORD_ID = "record_id"


class HistoryQueries:
    """Carries out the commands of `core.api.record.record`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = engine.store
        self._changing = asyncio.Lock()

    async def overview(self, command: api.GetOverview) -> api.Overview:
        now = self._engine.clock()
        zone = self._engine.weekly_schedule.zone(now)
        names = self._projects()
        found = await self._query(
            lambda view: overview(view, command, zone, now, lambda *given: _described(names, *given))
        )
        return msgspec.structs.replace(found, cost=api.cost_of(found.sums, self._engine.preferences))

    async def habits(self, command: api.GetHabits) -> api.Habits:
        zone = self._engine.weekly_schedule.zone(self._engine.clock())
        return await self._query(lambda view: habits(view, command, zone))

    async def sessions(self, command: api.GetSessions) -> list[api.SessionGiven]:
        names = self._projects()
        return await self._query(lambda view: sessions(view, command, lambda id: names[id][0] if id in names else id))  # noqa: A006

    async def events(self, command: GetEvents) -> list[PastEvent]:
        names = self._projects()
        return await self._query(lambda view: events(view, command, lambda id: names[id][0] if id in names else id))  # noqa: A006

    async def export(self, command: api.ExportHistory) -> api.Written:
        path, own, now = _absolute(command.path), self._own_id(), self._engine.clock()
        self._flush()

        def write(view: View) -> api.Written:
            file = exchange.collect(view, own, now)
            _replace(path, as_json(file) if command.form == "json" else as_csv(file))
            return _written(path, file)

        return await self._query(write, _FILE_SECONDS)

    async def import_file(self, command: api.ImportHistory) -> api.Written:
        path = _absolute(command.path)
        try:
            file = await in_thread(partial(exchange.read, path), _FILE_SECONDS)
        except TimeoutError:
            raise WorldError("reading_takes_long", source=str(path)) from None
        async with self._changing:
            self._store.journal.flush()
            new = 0
            for part in exchange.import_into(self._store.journal, file, self._own_id()):
                new += part
                await asyncio.sleep(0)
        return msgspec.structs.replace(_written(path, file), new_hours=new)

    async def delete(self, _command: api.DeleteHistory) -> None:
        async with self._changing:
            self._store.journal.forget()
        self._engine.update()

    async def _query(self, read: Callable[[View], Result], seconds: float = _SECONDS) -> Result:
        view = self._store.view()

        def run() -> Result:
            with closing(view), self._store.database.errors_as_data():
                return read(view)

        try:
            return await in_thread(run, seconds)
        except TimeoutError:
            raise WorldError("record_slow") from None

    def _projects(self) -> dict[str, tuple[str, Manifest | None]]:
        catalogue = self._engine.catalogue
        known = (project for project in catalogue.all() if project.manifest or project.source == BUILTIN)
        return {project.id: (catalogue.info(project).name, project.manifest) for project in known}

    def _own_id(self) -> str:
        """The id of this record in exports, created once."""
        journal = self._store.journal
        known = journal.read_setting(_RECORD_ID)
        if known is None:
            known = uuid.uuid4().hex
            journal.setting(_RECORD_ID, known)
        return known

    def _flush(self) -> None:
        """Write pending entries, which belong into an export too."""
        try:
            self._store.journal.flush()
        except StoreError as error:
            raise WorldError("export_waits", cause=error.message) from error


def fingerprint(manifest: Manifest) -> str:
    """SHA-256 of what defines a run; addresses and descriptions are not part of it."""
    parts = (
        manifest.run_id,
        manifest.model,
        manifest.tokenizer and manifest.tokenizer.sha256,
        manifest.task,
        [shard.sha256 for shard in manifest.data.shards],
        manifest.training,
    )
    return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()


def _described(
    names: Mapping[str, tuple[str, Manifest | None]], project: str, seconds: float, samples: int
) -> api.ProjectGiven:
    name, manifest = names.get(project, (project, None))
    if manifest is None:
        return api.ProjectGiven(project, name, seconds, samples)
    return api.ProjectGiven(project, name, seconds, samples, manifest.run_id, fingerprint(manifest))


def _absolute(text: str) -> Path:
    path = Path(text)
    if not path.is_absolute() or "\0" in text:
        raise UsageError("path_not_absolute", path=text)
    return path


def _replace(path: Path, data: bytes) -> None:
    """Replace the file, or leave the old one unchanged if that fails."""
    with os_errors_as("file_not_written", path=str(path)):
        write_atomically(path, data)


def _written(path: Path, file: File) -> api.Written:
    return api.Written(str(path), len(file.sessions), sum(len(session.hours) for session in file.sessions))

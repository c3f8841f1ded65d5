"""The list of projects: the practice project that comes with the app, and those whose manifests were added."""

import logging
import tomllib
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated
from urllib.parse import urljoin

import msgspec
from msgspec import Meta

import core
from core.api.errors import UsageError, WorldError
from core.api.project import manifest_reading
from core.api.project.demonstration import Demonstration
from core.api.project.manifest import Manifest, Model, Training
from core.api.project.projects import CurvePoint, ProjectDetails, ProjectInfo
from core.api.project.tasks import Task
from core.engine.machine.threads import in_thread
from core.engine.projects import credentials, demonstrations, fetch, requirements
from core.store.projects import Project
from core.store.store import Store

PRACTICE = Path(core.__file__).parents[1] / "resources" / "practice" / "project.toml"
BUILTIN = "builtin"
PRACTICE_ID = "practice"
"""Reserved: an organiser who hosts the same project uses another id."""
_PRACTICE = Project(PRACTICE_ID, BUILTIN, None)

_BESIDE = "manifest.json"
"""The name under which a backbone serves its manifest beside its page."""
_EXAMPLE = f"https://example.org/{_BESIDE}"

_log = logging.getLogger(__name__)


class Catalogue:
    def __init__(self, store: Store, cache_folder: Path, clock: Callable[[], float]) -> None:
        self._store = store
        self._cache_folder = cache_folder
        self._clock = clock
        self._projects: tuple[Project, ...] = ()
        self.changes = 0
        """How often the list has changed."""
        self.reload()

    def reload(self) -> None:
        """Read the list again after the store has changed."""
        self.changes += 1
        stored = self._store.projects.all()
        listed = [] if any(project.source == BUILTIN for project in stored) else [_PRACTICE]
        self._projects = (*stored, *listed)

    def all(self) -> tuple[Project, ...]:
        return self._projects

    def get(self, id: str) -> Project:  # noqa: A002 - the field's name
        """Raises UsageError if there is no such project in the list."""
        found = next((project for project in self._projects if project.id == id), None)
        if found is None:
            raise UsageError("project_unknown", project=id, known=[project.id for project in self._projects])
        return found

    def members(self) -> list[Project]:
        """The projects that the volunteer has joined, in the volunteer's order."""
        return [project for project in self._projects if project.joined_at is not None]

    async def find(self, project: str | None) -> Project:
        """The project for an id, URL or file; None: the first membership, else the practice project.

        Raises:
            UsageError, WorldError: there is no such project, or its manifest cannot be read.
        """
        if project is None:
            return next(iter(self.members()), _PRACTICE)
        is_listed = any(project == listed.id for listed in self._projects)
        if not is_listed and (fetch.is_url(project) or "/" in project or project.endswith(".json")):
            return await self.add(project)
        return self.get(project)

    async def add(self, source: str) -> Project:
        """Add the project of a manifest to the list, or update it there.

        Raises:
            UsageError, WorldError: the manifest cannot be read or is wrong.
        """
        manifest, source = await _read(source)
        listed = next((project for project in self._projects if project.id == manifest.id), None)
        if manifest.id == PRACTICE_ID:
            raise UsageError("practice_id_reserved", project=PRACTICE_ID)
        if listed is not None and listed.source != source:
            _check_may_move(listed)
        self._store.projects.put(manifest.id, source, manifest, self._clock())
        self.reload()
        return self.get(manifest.id)

    def join(self, project: Project) -> bool:
        """Become a member; False if the volunteer already is one."""
        if project.joined_at is not None:
            return False
        self._store.projects.put(project.id, project.source, None, self._clock())
        self._store.projects.join(project.id, self._clock())
        self.reload()
        return True

    def order(self, first: Sequence[str]) -> None:
        """Prefer these memberships in this order; the others follow.

        Raises:
            UsageError: one is no membership, or named twice.
        """
        members = [project.id for project in self.members()]
        if strangers := [name for name in first if name not in members]:
            raise UsageError("not_a_member", project=strangers[0])
        if len(set(first)) < len(first):
            raise UsageError("projects_repeated")
        self._store.projects.order(first)
        self.reload()

    def leave(self, id: str) -> None:  # noqa: A002 - the field's name
        self._store.projects.leave(id)
        self.reload()

    def remove(self, id: str) -> None:  # noqa: A002 - the field's name
        """Take a project off the list.

        Raises:
            UsageError: it is not in the list, comes with the program, or is joined.
        """
        project = self.get(id)
        if project.source == BUILTIN:
            raise UsageError("practice_stays")
        if project.joined_at is not None:
            raise UsageError("project_joined", project=id)
        self._store.projects.remove(id)
        self.reload()

    async def renewed(self, project: Project, url: str | None = None) -> Manifest:
        """The present manifest from its source or from `url`; the stored one if that cannot be read.

        Raises:
            UsageError, WorldError: there is none stored either.
        """
        try:
            manifest, _ = await _read(url or project.source)
            _check_same(project, manifest)
        except (UsageError, WorldError) as error:
            if project.manifest is None or url is not None:
                raise
            _log.warning("The manifest of %s could not be renewed: %s", project.id, error)
            return project.manifest
        if manifest != project.manifest:
            self._store.projects.put(project.id, project.source, manifest, self._clock())
            self.reload()
        return manifest

    async def curve(self, id: str) -> list[CurvePoint]:  # noqa: A002 - the field's name
        """The backbone's learning curve, with this volunteer's part."""
        project = self.get(id)
        manifest = project.manifest
        if manifest is None:
            return []
        own = self._store.history.curve(id, manifest.run_id)
        if manifest.curve is None:
            return merged(own, ())
        found = await fetch.document(manifest.curve, fetch.CURVE_CAP, fetch.reach(project), _CURVE)
        return merged(own, found.points if found else ())

    async def demonstration(self, id: str) -> Demonstration | None:  # noqa: A002 - the field's name
        """What the project's model can do by now; None if its backbone does not say."""
        project = self.get(id)
        url = project.manifest.demonstration if project.manifest else None
        return await demonstrations.read(url, fetch.reach(project)) if url else None

    def info(self, project: Project, active: str | None = None) -> ProjectInfo:
        description = project.manifest or _described()
        return ProjectInfo(
            id=project.id,
            name=description.name,
            summary=description.summary.strip(),
            organiser=description.organiser,
            license=description.license,
            source=project.source,
            joined=project.joined_at is not None,
            active=project.id == active,
            practice=project.source == BUILTIN,
            rank=self._rank(project),
            warning=credentials.WARNING if project.secret == "file" else None,  # noqa: S105 - its place
        )

    def details(self, project: Project, active: str | None = None) -> ProjectDetails:
        samples, seconds = self._store.history.given_to(project.id)
        manifest, described = project.manifest, project.manifest or _described()
        return ProjectDetails(
            info=self.info(project, active),
            architecture=described.model.architecture,
            task=type(described.task).__struct_config__.tag or "",  # type: ignore[arg-type]  # tags here are strings
            target_batch_size=described.training.target_batch_size,
            download_size=manifest.download_size if manifest else 0,
            requirements=msgspec.structs.asdict(manifest.requirements) if manifest else {},
            missing=tuple(requirements.missing(manifest.requirements, self._cache_folder)) if manifest else (),
            homepage=manifest.homepage if manifest else None,
            samples=samples,
            seconds=seconds,
            hourly_download=manifest.hourly_download if manifest else 0,
        )

    def _rank(self, project: Project) -> int:
        members = [member.id for member in self.members()]
        return members.index(project.id) + 1 if project.id in members else 0


class _Described(msgspec.Struct, frozen=True):
    """The practice project before its first session, when its backbone has not written a manifest yet."""

    name: str
    summary: str
    organiser: str
    license: str
    model: Model
    task: Task
    training: Training


@cache
def _described() -> _Described:
    return msgspec.convert(tomllib.loads(PRACTICE.read_text(encoding="utf-8")), _Described)


def _check_same(project: Project, manifest: Manifest) -> None:
    if project.source != BUILTIN and manifest.id != project.id:
        raise UsageError("manifest_of_other_project", project=project.id, found=manifest.id)


def _check_may_move(listed: Project) -> None:
    """Another source must not replace the manifest of a project that the volunteer has joined."""
    if listed.joined_at is not None:
        raise UsageError("project_id_taken", project=listed.id, source=listed.source)


async def _read(source: str) -> tuple[Manifest, str]:
    """A manifest, and its source as it is stored: of a backbone's web page the manifest beside it."""
    try:
        if not fetch.is_url(source):
            text = await in_thread(partial(fetch.from_file, source, fetch.MANIFEST_CAP), fetch.SECONDS)
            return _parsed(text, None, source), source
        text, base = await in_thread(partial(fetch.from_url, source, fetch.MANIFEST_CAP), fetch.SECONDS)
        if manifest_reading.is_web_page(text):
            beside = urljoin(base, _BESIDE)
            text, base = await _of_web_page(source, beside)
            return _parsed(text, base, source), beside
        return _parsed(text, base, source), source
    except TimeoutError:
        raise WorldError("reading_takes_long", source=source) from None


async def _of_web_page(page: str, beside: str) -> tuple[bytes, str]:
    try:
        return await in_thread(partial(fetch.from_url, beside, fetch.MANIFEST_CAP), fetch.SECONDS)
    except (UsageError, WorldError):
        raise UsageError("not_a_project", source=page, example=_EXAMPLE) from None


def _parsed(text: bytes, base: str | None, source: str) -> Manifest:
    if not manifest_reading.is_meant_as_manifest(text):
        raise UsageError("not_a_project", source=source, example=_EXAMPLE)
    return manifest_reading.parse(text, base)


class _Curve(msgspec.Struct, frozen=True):
    points: Annotated[tuple[CurvePoint, ...], Meta(max_length=200_000)]


_CURVE = msgspec.json.Decoder(_Curve)


def merged(own: dict[int, CurvePoint], reported: tuple[CurvePoint, ...]) -> list[CurvePoint]:
    """By epoch: the backbone's losses go first, own samples are this computer's."""
    points = dict(own)
    for point in reported:
        mine = own.get(point.epoch, CurvePoint(point.epoch))
        points[point.epoch] = msgspec.structs.replace(
            point,
            loss=mine.loss if point.loss is None else point.loss,
            own_samples=mine.own_samples,
            peers=point.peers or mine.peers,
            at=point.at or mine.at,
        )
    return [points[epoch] for epoch in sorted(points)]

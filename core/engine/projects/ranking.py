"""The volunteer's place on a project's leaderboard, fetched from its backbone now and then.

The request contains the volunteer's key, so nothing is fetched for a volunteer who does not publish.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from core.api.snapshot import Place
from core.engine.projects import fetch
from core.engine.projects.identity import Identity
from core.store.projects import Project

EVERY = 60.0
SOON = 10.0
"""Seconds between two requests; SOON as long as no place is known."""
LARGEST = 1 << 18

_log = logging.getLogger(__name__)


class _You(msgspec.Struct, frozen=True):
    place: Annotated[int, Meta(ge=1, le=1 << 53)]
    samples: Annotated[int, Meta(ge=0, le=1 << 53)]
    share: Annotated[float, Meta(ge=0.0, le=1.0)]


class _Leaderboard(msgspec.Struct, frozen=True):
    volunteers: Annotated[int, Meta(ge=0, le=1 << 53)]
    you: _You | None = None


_LEADERBOARD = msgspec.json.Decoder(_Leaderboard)


class Ranking:
    """Used in the event loop. Never blocks; a backbone that does not answer is only logged."""

    def __init__(self, volunteer: Identity, on_change: Callable[[], None], clock: Callable[[], float]) -> None:
        self._volunteer, self._on_change, self._clock = volunteer, on_change, clock
        self.is_published = True
        """Whether the volunteer publishes what is given."""
        self._places: dict[str, Place] = {}
        self.asking: asyncio.Future[None] | None = None
        self._next_at = 0.0
        self._of: str | None = None

    def get(self, project: str) -> Place | None:
        return self._places.get(project)

    def forget(self) -> None:
        """Forget all places, because the volunteer publishes nothing or uses another key."""
        self._places.clear()
        # Ignore a reply that is still on its way.
        self._of = None

    def update(self, project: Project | None, now: float) -> float | None:
        """Fetch the place in `project` if it is time; returns when to call again, None without a leaderboard.
        `project` is None while nothing is contributed."""
        if not self.is_published:
            self.forget()
            return None
        url = project.manifest.leaderboard if project and project.manifest else None
        if project is None or url is None:
            self._of = None
            return None
        if self._of != project.id:
            self._of, self._next_at = project.id, now + SOON
        if now >= self._next_at:
            self._next_at = now + (EVERY if project.id in self._places else SOON)
            if self.asking is None or self.asking.done():
                self.asking = asyncio.ensure_future(self._ask(project, url))
        return self._next_at

    async def _ask(self, asked_about: Project, url: str) -> None:
        project = asked_about.id
        of_volunteer = f"{url}?volunteer={self._volunteer.info().id}"
        board = await fetch.document(of_volunteer, LARGEST, fetch.reach(asked_about), _LEADERBOARD)
        if board is None or self._of != project:
            return
        before, you = self._places.pop(project, None), board.you
        if you is not None and you.place <= board.volunteers:
            self._places[project] = Place(you.place, board.volunteers, you.samples, you.share, self._clock())
        if self._places.get(project) != before:
            self._on_change()

"""The volunteer's place among all who publish: asked of a project's backbone now and then, kept until it says anew.

Asking names the volunteer's key, so whoever publishes nothing is not asked about either.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from core.api.decoding import decode
from core.api.errors import UsageError, WorldError
from core.api.snapshot import Place
from core.engine.machine.threads import in_thread
from core.engine.projects import fetch
from core.store.projects import Project

EVERY = 60.0
SOON = 10.0
"""Seconds between two questions, and until the next one while nothing is known."""
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
    """Lives in the event loop. Never blocks, and is silent about a backbone that does not answer."""

    def __init__(self, on_news: Callable[[], None], clock: Callable[[], float]) -> None:
        self._on_news, self._clock = on_news, clock
        self._known: dict[str, Place] = {}
        self.asking: asyncio.Future[None] | None = None
        self._next_at = 0.0
        self._of: str | None = None

    def get(self, project: str) -> Place | None:
        return self._known.get(project)

    def forget(self) -> None:
        """Whoever publishes nothing, or under another key, has no place."""
        self._known.clear()
        # An answer that is still on its way is for nobody.
        self._of = None

    def attend(self, project: Project | None, volunteer: Callable[[], str], now: float) -> float | None:
        """Ask about `project` if it is time; when to be called again. None: nothing is contributed, or it has no
        leaderboard. `volunteer` gives the public key."""
        url = project.manifest.leaderboard if project and project.manifest else None
        if project is None or url is None:
            self._of = None
            return None
        if self._of != project.id:
            self._of, self._next_at = project.id, now + SOON
        if now >= self._next_at:
            self._next_at = now + (EVERY if project.id in self._known else SOON)
            if self.asking is None or self.asking.done():
                self.asking = asyncio.ensure_future(self._ask(project, url, volunteer))
        return self._next_at

    async def _ask(self, asked_about: Project, url: str, volunteer: Callable[[], str]) -> None:
        project = asked_about.id
        try:
            fetched = partial(fetch.from_url, f"{url}?volunteer={volunteer()}", LARGEST, fetch.reach(asked_about))
            text, _ = await in_thread(fetched, fetch.SECONDS)
            told = decode(_LEADERBOARD, text)
        except (UsageError, WorldError, TimeoutError, msgspec.DecodeError) as error:
            _log.info("The leaderboard at %s could not be read: %s", url, error)
            return
        if self._of != project:
            return
        before, you = self._known.pop(project, None), told.you
        if you is not None and you.place <= told.volunteers:
            self._known[project] = Place(you.place, told.volunteers, you.samples, you.share, self._clock())
        if self._known.get(project) != before:
            self._on_news()

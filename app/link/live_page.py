"""A page that shows the engine's answers."""

from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QShowEvent

from app.link.engine_link import EngineLink, Link
from app.widgets.basic import Notice
from app.widgets.page import Page
from core.api.protocol import Command
from core.api.snapshot import Snapshot


class LivePage(Page):
    """Fetches when it is shown, when the engine is back, and when another front end has changed something.

    `problem` shows a refusal.
    """

    def __init__(self, link: EngineLink) -> None:
        super().__init__()
        self.link = link
        self.problem = Notice("problem-frame")
        self._changes: int | None = None

    def follow_link(self) -> None:
        """Follow the connection from now on; for the end of a page's constructor."""
        self.link.link_changed.connect(self._on_link)
        self.link.snapshot_changed.connect(self._on_changes)
        self._on_link()

    def refresh(self) -> None:
        """Fetch, if the page is visible and the engine answers."""
        if self.isVisible() and self.link.state is Link.UP:
            self.fetch()

    def fetch(self) -> None:
        """Ask the engine for what the page shows."""

    def enable(self, up: bool) -> None:
        """Enable what needs the engine."""

    def ask(self, command: Command, done: Callable[[Any], None], kind: Any) -> None:
        """As `EngineLink.ask`, with a refusal shown on the page."""
        self.link.ask(command, done, self.problem.set_text, kind=kind)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _on_changes(self, snapshot: Snapshot) -> None:
        before, self._changes = self._changes, snapshot.changes
        if before not in {None, snapshot.changes}:
            self.refresh()

    def _on_link(self, *_: object) -> None:
        self.enable(self.link.state is Link.UP)
        self.refresh()

"""Which events become desktop notifications while the window is not visible.

The first contribution, milestones, and problems that need the volunteer. One setting switches them all off.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.desktop.notifications import Notification
from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink, Link
from app.text import messages, reasons
from app.text.formats import numbers
from app.text.formats.sentences import closed
from app.text.i18n import tr, trn
from core.api.protocol import Event
from core.api.reasons import Severity
from core.api.record.record import GetOverview, Milestone, Overview
from core.api.snapshot import Snapshot

_NOT_AGAIN_WITHIN = 3600.0
"""Seconds in which a problem is not notified twice, also if it went away in between."""
_REQUEST_INTERVAL = 60.0
"""Least seconds between two requests for milestones: epochs of a small project take seconds."""
_GONE_MS = 10_000
"""An engine that is back within this time, as after an update, needs no notification."""

Show = Callable[[Notification], None]
Withdraw = Show


class NotificationPolicy(QObject):
    """Follows the engine and passes notifications to `show`, and those of problems that are over to `withdraw`."""

    def __init__(
        self, link: EngineLink, settings: Settings, show: Show, withdraw: Withdraw, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._link, self._settings, self._show, self._withdraw = link, settings, show, withdraw
        self._problems: set[str] = set()
        """The sentences of the problems that there are now."""
        self._notified_at: dict[str, float] = {}
        """When a problem was last notified, by its sentence; monotonic seconds."""
        self._missed = ""
        """What was said of an engine that does not answer, while it does not."""
        self._reached: frozenset[tuple[str, float]] | None = None
        self._requested_at = float("-inf")
        self._gone = QTimer(self, singleShot=True, interval=_GONE_MS)
        self._gone.timeout.connect(self._notify_gone)
        link.event_came.connect(self._on_event)
        link.snapshot_changed.connect(self._on_snapshot)
        link.link_changed.connect(self._on_link)

    def _on_event(self, event: Event) -> None:
        match event.kind:
            case "first_contribution":
                self._notify(tr("Your computer contributes"), tr("Its first samples are computed. Thank you!"))
            case "epoch_done":
                self._request_milestones()
            case "warning":
                self._notify_problem(messages.sentence(event.message))

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        if self._reached is None:
            self._request_milestones()
        problems = [reason for reason in snapshot.reasons if reason.severity is Severity.PROBLEM]
        now = {closed(reasons.sentence_with_end(reason, time.time())) for reason in problems if snapshot.wanted}
        before, self._problems = self._problems, now
        for sentence in before - now:
            self._withdraw(_of_problem(sentence))
        for sentence in now:
            self._notify_problem(sentence)

    def _on_link(self, state: Link, _sentence: str) -> None:
        if state in {Link.GONE, Link.SILENT}:
            self._gone.start()
            return
        self._gone.stop()
        if self._missed:
            self._withdraw(_of_problem(self._missed))
            self._missed = ""

    def _notify_gone(self) -> None:
        self._missed = self._link.sentence + " " + tr("Open Idlehive to restart it.")
        self._notify_problem(self._missed)

    def _request_milestones(self) -> None:
        now = time.monotonic()
        if now >= self._requested_at + _REQUEST_INTERVAL:
            self._requested_at = now
            self._link.ask(GetOverview(), self._on_overview, kind=Overview)

    def _on_overview(self, overview: Overview) -> None:
        """The first overview after the start only sets the reference: earlier milestones are not notified."""
        reached = frozenset((each.kind, each.amount) for each in overview.milestones if each.reached)
        fresh = reached - self._reached if self._reached is not None else frozenset[tuple[str, float]]()
        self._reached = reached
        sentences = [milestone(each) for each in overview.milestones if (each.kind, each.amount) in fresh]
        if sentences:
            self._notify(tr("A milestone"), "\n".join(sentences))

    def _notify(self, title: str, text: str) -> None:
        self._pass_on(Notification(title, text))

    def _pass_on(self, notification: Notification) -> None:
        if self._settings.notifications and not _window_is_visible():
            self._show(notification)

    def _notify_problem(self, text: str) -> None:
        now = time.monotonic()
        if now < self._notified_at.get(text, float("-inf")) + _NOT_AGAIN_WITHIN:
            return
        self._notified_at[text] = now
        self._pass_on(_of_problem(text))


def _of_problem(text: str) -> Notification:
    return Notification(tr("Idlehive needs you"), text, urgent=True)


def _window_is_visible() -> bool:
    """A hidden window stays the active one until the desktop activates another."""
    window = QApplication.activeWindow()
    return window is not None and window.isVisible()


def milestone(reached: Milestone) -> str:
    number = round(reached.amount / 3600 if reached.kind == "seconds" else reached.amount)
    sentences = {
        "seconds": trn("{count} hour given.", "{count} hours given.", number, count=numbers.count(number)),
        "samples": trn("{count} sample computed.", "{count} samples computed.", number, count=numbers.count(number)),
        "epochs": trn(
            "{count} epoch of a shared model carries your work.",
            "{count} epochs of shared models carry your work.",
            number,
            count=numbers.count(number),
        ),
    }
    return sentences[reached.kind]

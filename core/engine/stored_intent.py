"""The present intent, stored with every change."""

import math

import msgspec

from core.engine.decision.intent import Intent, read
from core.store.journal import Journal

_SETTING = "intent"
_AWAITED = 30.0
"""Seconds after a volunteer's command in which they wait for the session that it starts."""


class StoredIntent:
    def __init__(self, journal: Journal, *, resume: bool = True) -> None:
        """`resume`: what was wanted before the engine ended is wanted again."""
        self._journal = journal
        stored = read(journal.read_setting(_SETTING))
        self.value = stored if resume else stored.fulfilled()
        self.goals: tuple[int, ...] = ()
        """The numbers of what was borrowed and has ended by its time or epoch."""
        self.asked_at = -math.inf
        """When the volunteer last asked to contribute."""

    def set(self, intent: Intent) -> None:
        if intent != self.value:
            self.value = intent
            self._journal.setting(_SETTING, msgspec.json.encode(intent).decode())

    def is_awaited(self, now: float) -> bool:
        """Whether the volunteer waits for the session that a command of theirs starts."""
        return 0 <= now - self.asked_at <= _AWAITED

    def pass_to(self, now: float) -> None:
        """End what was to last until now."""
        self._let_end(self.value.at(now))

    def reached(self, epoch: int, project: str | None) -> None:
        """End what was to last until this epoch of this project."""
        self._let_end(self.value.reached(epoch, project))

    def _let_end(self, intent: Intent) -> None:
        self.goals += tuple(number for number in self.value.borrowed if number not in intent.borrowed)
        self.set(intent)

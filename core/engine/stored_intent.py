"""The present intent, stored with every change."""

import msgspec

from core.engine.decision.intent import Intent, read
from core.store.journal import Journal

_SETTING = "intent"


class StoredIntent:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.value = read(journal.read_setting(_SETTING))

    def set(self, intent: Intent) -> None:
        if intent != self.value:
            self.value = intent
            self._journal.setting(_SETTING, msgspec.json.encode(intent).decode())

    def reached(self, epoch: int) -> None:
        """End an intent that was to last until this epoch."""
        if self.value.until_epoch is not None and epoch >= self.value.until_epoch:
            self.set(self.value.fulfilled())

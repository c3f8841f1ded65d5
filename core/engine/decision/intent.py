"""What the volunteer asked for: it survives a restart of the engine."""

import msgspec

from core.api.intent import Override
from core.api.preferences.schedule import ALWAYS, Level, Outlook


class Intent(msgspec.Struct, frozen=True):
    """Contribute or not, to what, and until when. Times are UTC seconds."""

    wanted: bool = False
    project: str | None = None
    """None: the first membership in the volunteer's order that can run."""
    paused: bool = False
    snoozed_until: float | None = None
    stop_at: float | None = None
    """The intent ends at this time …"""
    until_epoch: int | None = None
    """… or when the run has reached this epoch."""
    override: bool = False
    """Hours that are off count as full …"""
    override_until: float | None = None
    """… until this time, None: until resumed."""

    def contribute(
        self,
        project: str | None,
        until: float | None,
        until_epoch: int | None,
        *,
        override: Override = "next_edge",
        week: Outlook = ALWAYS,
    ) -> "Intent":
        """Contribute `until` a time; `override`: whether hours that are off are overridden."""
        is_off = week.level is Level.OFF
        # A volunteer on the schedule who asks for one more hour does not ask to stop for good after it.
        stop_at = None if self.wanted and is_off and override != "none" else until
        begun = Intent(True, project, stop_at=stop_at, until_epoch=until_epoch)
        if override == "none" or (override == "next_edge" and until is None and not is_off):
            return begun
        end = until if until is not None else week.next_at if override == "next_edge" else None
        return msgspec.structs.replace(begun, override=True, override_until=end)

    def pause(self, until: float | None) -> "Intent":
        return msgspec.structs.replace(self, paused=until is None, snoozed_until=until)

    def resume(self) -> "Intent":
        """End a pause or, without one, an override."""
        if self.paused or self.snoozed_until is not None:
            return msgspec.structs.replace(self, paused=False, snoozed_until=None)
        return self.scheduled()

    def scheduled(self) -> "Intent":
        """End an override of the schedule."""
        return msgspec.structs.replace(self, override=False, override_until=None)

    def without(self, project: str) -> "Intent":
        """The intent after the volunteer left `project`: an intent for it ends."""
        return msgspec.structs.replace(self.fulfilled(), project=None) if self.project == project else self

    def fulfilled(self) -> "Intent":
        """The intent without its wish to contribute; a pause remains."""
        return msgspec.structs.replace(self.scheduled(), wanted=False, stop_at=None, until_epoch=None)

    def at(self, now: float) -> "Intent":
        """The intent at `now`, without expired parts."""
        intent = self
        if intent.snoozed_until is not None and now >= intent.snoozed_until:
            intent = intent.resume()
        if intent.override_until is not None and now >= intent.override_until:
            intent = intent.scheduled()
        if intent.stop_at is not None and now >= intent.stop_at:
            intent = intent.fulfilled()
        return intent


def read(text: str | None) -> Intent:
    """Read a stored intent; an unreadable one counts as no intent, which is safe."""
    try:
        return Intent() if text is None else msgspec.json.decode(text, type=Intent)
    except msgspec.DecodeError:
        return Intent()

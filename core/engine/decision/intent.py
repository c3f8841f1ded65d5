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
    """The intent is fulfilled at this time …"""
    until_epoch: int | None = None
    """… or when the run has reached this epoch."""
    override: bool = False
    """Hours of the schedule that are off count as full …"""
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
        """Contribute from now on, `until` a chosen time; `override` says what becomes of hours that are off."""
        is_off = week.level is Level.OFF
        # Who contributes by the schedule and asks for an hour more does not ask to stop for good after it.
        stop_at = None if self.wanted and is_off and override != "none" else until
        begun = Intent(True, project, stop_at=stop_at, until_epoch=until_epoch)
        if override == "none" or (override == "next_edge" and until is None and not is_off):
            return begun
        end = until if until is not None else week.next_at if override == "next_edge" else None
        return msgspec.structs.replace(begun, override=True, override_until=end)

    def pause(self, until: float | None) -> "Intent":
        return msgspec.structs.replace(self, paused=until is None, snoozed_until=until)

    def resume(self) -> "Intent":
        """The end of a pause; where there is none, the end of an override."""
        if self.paused or self.snoozed_until is not None:
            return msgspec.structs.replace(self, paused=False, snoozed_until=None)
        return self.scheduled()

    def scheduled(self) -> "Intent":
        """The schedule counts again."""
        return msgspec.structs.replace(self, override=False, override_until=None)

    def without(self, project: str) -> "Intent":
        """The intent after the volunteer left a project: one for this very project is over."""
        return msgspec.structs.replace(self.fulfilled(), project=None) if self.project == project else self

    def fulfilled(self) -> "Intent":
        """Nothing is wanted any more; a pause stays what it is."""
        return msgspec.structs.replace(self.scheduled(), wanted=False, stop_at=None, until_epoch=None)

    def at(self, now: float) -> "Intent":
        """The intent as it stands at `now`: what ended by itself is gone."""
        intent = self
        if intent.snoozed_until is not None and now >= intent.snoozed_until:
            intent = intent.resume()
        if intent.override_until is not None and now >= intent.override_until:
            intent = intent.scheduled()
        if intent.stop_at is not None and now >= intent.stop_at:
            intent = intent.fulfilled()
        return intent


def read(text: str | None) -> Intent:
    """An intent as it was stored; what cannot be read counts as no intent, the harmless side."""
    try:
        return Intent() if text is None else msgspec.json.decode(text, type=Intent)
    except msgspec.DecodeError:
        return Intent()

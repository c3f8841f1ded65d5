"""What the volunteer asked for: it survives a restart of the engine."""

import msgspec


class Intent(msgspec.Struct, frozen=True):
    """Contribute or not, to what, and until when. Times are UTC seconds."""

    wanted: bool = False
    project: str | None = None
    """None: the membership of the first rank."""
    paused: bool = False
    snoozed_until: float | None = None
    stop_at: float | None = None
    """The intent is fulfilled at this time …"""
    until_epoch: int | None = None
    """… or when the run has reached this epoch."""

    def contribute(self, project: str | None, stop_at: float | None, until_epoch: int | None) -> "Intent":
        return Intent(True, project, stop_at=stop_at, until_epoch=until_epoch)

    def pause(self, until: float | None) -> "Intent":
        return msgspec.structs.replace(self, paused=until is None, snoozed_until=until)

    def resume(self) -> "Intent":
        return msgspec.structs.replace(self, paused=False, snoozed_until=None)

    def without(self, project: str) -> "Intent":
        """The intent after the volunteer left a project: one for this very project is over."""
        return msgspec.structs.replace(self.fulfilled(), project=None) if self.project == project else self

    def fulfilled(self) -> "Intent":
        """Nothing is wanted any more; a pause stays what it is."""
        return msgspec.structs.replace(self, wanted=False, stop_at=None, until_epoch=None)

    def at(self, now: float) -> "Intent":
        """The intent as it stands at `now`: what ended by itself is gone."""
        intent = self
        if intent.snoozed_until is not None and now >= intent.snoozed_until:
            intent = intent.resume()
        if intent.stop_at is not None and now >= intent.stop_at:
            intent = intent.fulfilled()
        return intent


def read(text: str | None) -> Intent:
    """An intent as it was stored; what cannot be read counts as no intent, the harmless side."""
    try:
        return Intent() if text is None else msgspec.json.decode(text, type=Intent)
    except msgspec.DecodeError:
        return Intent()

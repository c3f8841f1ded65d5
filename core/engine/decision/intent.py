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
    anyway: tuple[str, ...] = ()
    """… and reasons of these kinds do not count …"""
    override_until: float | None = None
    """… until this time, None: until resumed."""
    before: "Intent | None" = None
    """Borrowed: what comes back at the end, which may be borrowed too."""
    number: int = 0
    """By which what is borrowed is given back."""

    @property
    def own(self) -> "Intent":
        """The volunteer's, without what is borrowed."""
        return self.before.own if self.before else self

    @property
    def borrowed(self) -> tuple[int, ...]:
        """The numbers of what is borrowed; the first applies."""
        return (self.number, *self.before.borrowed) if self.before else ()

    def contribute(
        self,
        project: str | None,
        until: float | None,
        until_epoch: int | None,
        *,
        override: Override = "next_edge",
        anyway: tuple[str, ...] = (),
        week: Outlook = ALWAYS,
        borrow: int = 0,
    ) -> "Intent":
        """Contribute `until` a time; `override`: whether hours that are off are overridden; `anyway`: which reasons;
        `borrow`: the number under which it is borrowed, 0 if it is not."""
        is_off = week.level is Level.OFF
        overrides = override != "none" and (is_off or until is not None or override == "resumed")
        # A volunteer on the schedule who asks for one more hour does not ask to stop for good after it.
        goes_on = self.own.wanted and ((is_off and overrides) or bool(anyway)) and not borrow
        end = until if until is not None else week.next_at if override == "next_edge" else None
        return Intent(
            True,
            project,
            stop_at=None if goes_on else until,
            until_epoch=until_epoch,
            override=overrides,
            anyway=anyway,
            override_until=end if overrides or anyway else None,
            before=self if borrow else None,
            number=borrow,
        )

    def given_back(self, number: int) -> "Intent":
        """What was borrowed under this number has ended."""
        if self.before is None or self.number == number:
            return self.before or self
        return msgspec.structs.replace(self, before=self.before.given_back(number))

    def reached(self, epoch: int, project: str | None) -> "Intent":
        """The run of `project` has reached an epoch: that of the session, which may still be another one's."""
        return self._reached(epoch, project, self.project or project)

    def _reached(self, epoch: int, project: str | None, own: str | None) -> "Intent":
        before = self.before and self.before._reached(epoch, project, self.before.project)
        intent = msgspec.structs.replace(self, before=before)
        is_done = own == project and self.until_epoch is not None and epoch >= self.until_epoch
        return intent.before or intent.fulfilled() if is_done else intent

    def pause(self, until: float | None) -> "Intent":
        before = self.before and self.before.pause(until)
        return msgspec.structs.replace(self, paused=until is None, snoozed_until=until, before=before)

    def resume(self) -> "Intent":
        """End a pause or, without one, what overrides schedule and limits."""
        before = self.before and self.before.resume()
        if self.paused or self.snoozed_until is not None:
            return msgspec.structs.replace(self, paused=False, snoozed_until=None, before=before)
        return msgspec.structs.replace(self.scheduled(), before=before)

    def scheduled(self) -> "Intent":
        """End what overrides schedule and limits."""
        return msgspec.structs.replace(self, override=False, anyway=(), override_until=None)

    def without(self, project: str) -> "Intent":
        """The intent after the volunteer left `project`: an intent for it ends."""
        before = self.before and self.before.without(project)
        left = msgspec.structs.replace(self.fulfilled(), project=None) if self.project == project else self
        return msgspec.structs.replace(left, before=before)

    def fulfilled(self) -> "Intent":
        """The intent without its wish to contribute; a pause remains."""
        return msgspec.structs.replace(self.scheduled(), wanted=False, stop_at=None, until_epoch=None)

    def at(self, now: float) -> "Intent":
        """The intent at `now`, without expired parts."""
        intent = msgspec.structs.replace(self, before=self.before and self.before.at(now))
        if intent.snoozed_until is not None and now >= intent.snoozed_until:
            intent = msgspec.structs.replace(intent, snoozed_until=None)
        if intent.override_until is not None and now >= intent.override_until:
            intent = intent.scheduled()
        if intent.stop_at is not None and now >= intent.stop_at:
            intent = intent.before or intent.fulfilled()
        return intent


def read(text: str | None) -> Intent:
    """Read a stored intent; an unreadable one counts as no intent, which is safe.

    The command that borrowed it has ended with the engine.
    """
    try:
        return Intent() if text is None else msgspec.json.decode(text, type=Intent).own
    except msgspec.DecodeError:
        return Intent()

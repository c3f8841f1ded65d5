"""Announcements of sleep by the system."""

import time

from core.conditions.source import NotAvailable


class Announcer:
    """A platform's announcement of sleep, which delays sleep for a while. One thread only, except `allow_sleep`.

    This one is for a computer that announces nothing: only the clocks show that it slept.
    """

    name = "nobody"

    def open(self) -> bool:
        """Listen, and delay sleep until `allow_sleep`; returns whether sleep is already near. Raises NotAvailable."""
        raise NotAvailable("system_silent")

    def wait(self, seconds: float) -> bool | None:
        """True if sleep is near, False if it is over, None if neither was announced. Raises NotAvailable."""
        time.sleep(seconds)
        return None

    def delay_sleep(self) -> None:
        """Delay the next sleep too. Raises NotAvailable."""

    def allow_sleep(self) -> None:
        """Let the computer sleep now. May be called from any thread, repeatedly."""

    def close(self) -> None:
        self.allow_sleep()

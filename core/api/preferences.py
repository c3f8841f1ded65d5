"""What a volunteer can choose: each preference declared once, with unit, range, default and page.

The same name and unit go all the way: preference, wire, SQLite, limit in the trainer. Human units exist only in `app`.
"""

from dataclasses import dataclass

import msgspec

from core.api.errors import UsageError

GIB = 1 << 30


class Limits(msgspec.Struct, frozen=True):
    """What applies now, after preferences (and later schedule and conditions) are combined. Sent to the trainer."""

    threads: int = 0
    """Processor threads of the trainer; 0 leaves the choice to Idlehive."""
    cache_size: int = 10 * GIB
    """Most bytes of data shards kept on disk."""


@dataclass(frozen=True)
class Preference:
    """The declaration of one preference; values are whole numbers in `unit`."""

    name: str
    unit: str
    lowest: int
    highest: int
    default: int
    page: str

    def check(self, value: object) -> int:
        """The value, if it is allowed.

        Raises:
            UsageError: not a whole number, or outside the range; the sentence names the range.
        """
        allowed = f"a whole number of {self.unit} from {self.lowest} to {self.highest}"
        if isinstance(value, bool) or not isinstance(value, int) or not self.lowest <= value <= self.highest:
            raise UsageError(f"{self.name} must be {allowed}, not {value!r}.")
        return value


PREFERENCES: dict[str, Preference] = {
    preference.name: preference
    for preference in (
        Preference("threads", "threads", 0, 1024, 0, page="limits"),
        Preference("cache_size", "bytes", 64 << 20, 1 << 50, 10 * GIB, page="limits"),
    )
}


def preference_named(name: str) -> Preference:
    """The declaration of `name`.

    Raises:
        UsageError: there is no such preference; the sentence lists those there are.
    """
    try:
        return PREFERENCES[name]
    except KeyError:
        raise UsageError(f"There is no limit named {name!r}; there are: {', '.join(PREFERENCES)}.") from None

"""The types of preferences. Each checks a value and has a default.

Front ends get a preference with its type, so that they need no copy of ranges and options.
"""

import unicodedata
from collections.abc import Iterable
from pathlib import PureWindowsPath
from typing import Any, Literal

import msgspec

from core.api.errors import UsageError
from core.api.preferences import schedule
from core.api.proxy import checked_address

Unit = Literal[
    "threads", "percent", "bytes", "bytes/s", "celsius", "watts", "seconds", "day", "time", "port", "price", "g/kWh"
]
"""`price` is thousandths of the currency for a kWh, `day` a day of the month, `time` minutes since local midnight."""

Value = bool | int | str | tuple[str, ...]

_LONGEST_NAME = 100
"""Characters of a program's name."""
_LONGEST_ADDRESS = 300
"""Characters of a proxy's address."""
KEEPERS = ("", "keyring", "file")
"""Where a secret is: nowhere, in the keyring, or in a file of the profile that only its owner can read."""
_LONGEST_SHOWN = 40
"""Characters of a wrong value in an error."""


class Number(msgspec.Struct, frozen=True, tag="number"):
    """A whole number in `unit`."""

    unit: Unit
    lowest: int
    highest: int
    default: int
    zero: str = ""
    """The word for 0 if it is no ordinary value: `automatic`, `unlimited`. It then is no ceiling."""
    least: int = 0
    """The smallest value except 0: a lower ceiling would stop everything."""
    gentle: int | None = None
    """Default in the gentle hours of the schedule; None: the same value applies at every level."""

    @property
    def smallest(self) -> int:
        """The lowest ordinary value: above 0 if 0 has a word."""
        return max(self.least, self.lowest, 1 if self.zero else 0)

    def check(self, name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not self.allows(value):
            raise UsageError(
                "preference_out_of_range",
                name=name,
                unit=self.unit,
                lowest=self.lowest,
                least=self.smallest,
                highest=self.highest,
                value=_shown(value),
            )
        return value

    def allows(self, value: int) -> bool:
        return value == self.lowest or self.smallest <= value <= self.highest

    def stricter(self, one: int, other: int) -> int:
        """The lower of two ceilings."""
        ceilings = [value for value in (one, other) if value or not self.zero]
        return min(ceilings, default=0)


class Switch(msgspec.Struct, frozen=True, tag="switch"):
    """On or off. 1 and 0 are accepted too: earlier versions stored them."""

    default: bool

    def check(self, name: str, value: object) -> bool:
        if not isinstance(value, int) or value not in (0, 1):
            raise UsageError("preference_not_switch", name=name, value=_shown(value))
        return bool(value)


class Choice(msgspec.Struct, frozen=True, tag="choice"):
    """One of `options`; empty, where that is the default: not set."""

    options: tuple[str, ...]
    default: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        return self.options if self.default else ("", *self.options)

    def check(self, name: str, value: object) -> str:
        if value not in self.values:
            raise UsageError("preference_not_option", name=name, value=_shown(value), options=self.options)
        return str(value)


class Text(msgspec.Struct, frozen=True, tag="text"):
    """One line, which others may see; empty: not set."""

    longest: int
    """Characters."""
    default: str = ""

    def check(self, name: str, value: object) -> str:
        tidy = " ".join(unicodedata.normalize("NFC", value).split()) if isinstance(value, str) else None
        if tidy is None or len(tidy) > self.longest:
            raise UsageError("preference_too_long", name=name, longest=self.longest)
        # Control characters and marks that turn the direction of the text around them.
        if any(unicodedata.category(character)[0] == "C" for character in tidy):
            raise UsageError("preference_unprintable", name=name)
        return tidy


class Programs(msgspec.Struct, frozen=True, tag="programs"):
    """Names of executables, in order, without folders and repetitions."""

    most: int
    default: tuple[str, ...] = ()

    def check(self, name: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise UsageError("preference_not_list", name=name, value=_shown(value))
        names = programs(value)
        if len(names) > self.most:
            raise UsageError("programs_too_many", most=self.most, given=len(names))
        return names


class Week(msgspec.Struct, frozen=True, tag="week"):
    """Marks of half hours (`core.api.preferences.schedule`)."""

    default: str

    def check(self, name: str, value: object) -> str:
        if not isinstance(value, str):
            raise UsageError("preference_not_week", name=name, value=_shown(value))
        return schedule.read(value)


class ProxyAddress(msgspec.Struct, frozen=True, tag="proxy_address"):
    """The address of a proxy, without a password; empty: not set."""

    default: str = ""

    def check(self, name: str, value: object) -> str:
        if not isinstance(value, str) or len(value) > _LONGEST_ADDRESS:
            raise UsageError("preference_too_long", name=name, longest=_LONGEST_ADDRESS)
        return checked_address(value) if value else ""


class Secret(msgspec.Struct, frozen=True, tag="secret"):
    """A password. Its value says where it is kept: in the keyring, or in a file. It is set with the password itself."""

    longest: int
    """Characters of the secret."""
    default: str = ""

    def check(self, name: str, value: object) -> str:
        if value not in KEEPERS:
            raise UsageError("preference_not_option", name=name, value="…", options=KEEPERS)
        return str(value)

    def check_secret(self, name: str, secret: object) -> str:
        """The secret itself, which becomes no value."""
        if not isinstance(secret, str) or len(secret) > self.longest or not secret.isprintable():
            raise UsageError("preference_too_long", name=name, longest=self.longest)
        return secret


Type = Number | Switch | Choice | Text | Programs | Week | ProxyAddress | Secret


def programs(names: Iterable[str]) -> tuple[str, ...]:
    """Names of executables from what the volunteer wrote, without folders and repetitions.

    Raises:
        UsageError: one of them is no name.
    """
    return tuple({name.lower(): name for name in map(_program, names)}.values())


def _program(text: str) -> str:
    # PureWindowsPath knows both slashes.
    name = PureWindowsPath(text.strip()).name
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise UsageError("program_name_invalid", name=text[:_LONGEST_NAME])
    return name


def _shown(value: Any) -> str:
    return repr(value)[:_LONGEST_SHOWN]

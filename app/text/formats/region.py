"""How the region writes numbers, times and dates.

`app.desktop.language` fills a `Region` from the system for the window, `app.cli.console.language` reads the language's
own for the command line.
"""

import msgspec


class Region(msgspec.Struct, frozen=True):
    """Marks and names; the defaults are those of the command line in English, which fit into any terminal."""

    decimal_mark: str = "."
    group: str = " "
    """Between groups of three digits."""
    space: str = " "
    """Between a number and its unit."""
    before_percent: str = " "
    currency_first: bool = False
    has_24_hours: bool = True
    halves_of_day: tuple[str, str] = ("AM", "PM")
    first_day: int = 0
    """Of the week, Monday = 0."""
    days: tuple[str, ...] = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    short_days: tuple[str, ...] = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    months: tuple[str, ...] = (
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    )  # fmt: skip
    short_months: tuple[str, ...] = (
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    )  # fmt: skip


_region = Region()


def use(region: Region) -> None:
    """Write for this region from now on. Texts that are already shown stay as they are."""
    global _region
    _region = region


def current() -> Region:
    return _region

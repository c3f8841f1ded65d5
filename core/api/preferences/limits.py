"""Limits as front ends see and set them: each preference with its declaration and the value in force."""

import msgspec


class ShowLimits(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of LimitInfo; `gentle.NAME`, what NAME is in gentle hours, right after NAME."""


class SetLimit(msgspec.Struct, frozen=True, tag=True):
    """Reply: LimitInfo."""

    name: str
    value: int


class ResetLimit(msgspec.Struct, frozen=True, tag=True):
    """Reply: LimitInfo."""

    name: str


class LimitInfo(msgspec.Struct, frozen=True):
    """A preference with its declaration and the value in force."""

    name: str
    value: int
    default: int
    unit: str
    lowest: int
    highest: int
    effective: int
    """After everything that restricts it; of a limit for gentle hours: what would count in one."""
    page: str = ""
    """Where front ends show it."""
    zero: str = ""
    """What 0 means if it is no ordinary value: `automatic`, `unlimited`."""
    least: int = 0
    """The smallest value beside 0."""
    why: str | None = None
    """What makes the value in force differ from the one chosen: `gentle hours`, or `NAME is lower` of another limit."""


LimitCommand = ShowLimits | SetLimit | ResetLimit

"""How often a member gave no account of a round. Pure."""

from collections.abc import Collection
from typing import Generic, TypeVar

_REFUSALS, _FORGIVEN = 3.0, 0.25
"""Audits that remain unclear for a reducer until it is taken for a liar, and how many of them another audit makes up
for: a computer that is too busy, or a line that fails, does so in less than one of five."""

Member = TypeVar("Member")


class Refusals(Generic[Member]):
    """How often a member gave no account of a round, or halted in it."""

    def __init__(self) -> None:
        self._counts: dict[Member, float] = {}

    def repeated(self, asked: Collection[Member], unclear: Collection[Member]) -> list[Member]:
        """Who does so too often, after an audit of those `asked` that remained `unclear` for some of them."""
        if 2 * len(unclear) >= len(asked) > 1:
            # It is rather this peer that hears nothing.
            return []
        for member in asked:
            count = self._counts.pop(member, 0.0) + (1.0 if member in unclear else -_FORGIVEN)
            if count > 0:
                self._counts[member] = count
        return [member for member in unclear if self._counts[member] >= _REFUSALS]

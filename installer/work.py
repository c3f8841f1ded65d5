"""The context that the steps of a set-up share."""

from dataclasses import dataclass

from installer.checkout import Checkout
from installer.programs import Programs
from installer.progress import Progress


@dataclass(frozen=True)
class Work:
    """One set-up of a checkout: the parts wanted, the programs it starts and the display that follows it."""

    checkout: Checkout
    parts: frozenset[str]
    programs: Programs
    progress: Progress

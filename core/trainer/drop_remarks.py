"""Tells the volunteer, now and then, that other peers were dropped. There may be many."""

import logging
from collections.abc import Callable

from core.api.message import Message
from core.swarm.trust.distrust import Drop

log = logging.getLogger(__name__)

_EVERY = 600.0
"""Seconds between two remarks; the log has all drops."""


class DropRemarks:
    """Call it with each drop."""

    def __init__(self, on_remark: Callable[[Message], None]) -> None:
        self._on_remark = on_remark
        self._due_at = 0.0

    def __call__(self, drop: Drop) -> None:
        log.warning("%s", drop.message)
        if drop.at < self._due_at:
            return
        self._due_at = drop.at + _EVERY
        self._on_remark(Message("peer_removed_silent" if drop.offence == "fell_silent" else "peer_removed"))

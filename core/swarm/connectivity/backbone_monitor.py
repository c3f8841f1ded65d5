"""Keeps a peer connected to the backbone of its run.

hivemind's DHT contacts the first peers once. A peer that was cut off or stopped for a while has lost them from its
routing table and is in nobody's: it then sees itself alone, or alone with others that were away, while the run goes on.
So the backbone is pinged, where nothing else has come from it.
"""

import asyncio
import itertools
import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from hivemind import DHT
from hivemind.p2p import PeerID

from core.swarm.connectivity.ping import close_silent_connections
from core.swarm.dht.node import SparingNode
from core.swarm.dht.organiser import OrganiserRecords

log = logging.getLogger(__name__)

EVERY = 5.0
"""Seconds in which the backbone must be heard; it is pinged if it was not."""
_READ_EVERY = 8
"""Such times from one reading of the organiser's record to the next."""
_TIMEOUT = 10.0
"""Seconds for the answers: the DHT gives up after three, and asks again if connections led nowhere."""
_LOOKUP_EVERY = 36
"""Such times after which the neighbours are looked up again, even if nothing was wrong."""
_KNOWN = 32
"""Peers besides the backbone that are remembered, for when the whole backbone is away."""


class BackboneMonitor(threading.Thread):
    """Of one session. Begin it with `start`."""

    run_epoch: int | None = None
    """That the organiser vouches for, as read the last time; None if its record cannot be had."""
    validated: Collection[bytes] | None = None
    """Peers whose gradients the organiser has computed again; None if it does that with nobody's."""
    on_bans: Callable[[Mapping[bytes, float]], None] = staticmethod(lambda _bans: None)
    """Called, on this thread, with the peers that the organiser has banned, and until when (UTC seconds)."""

    on_silence: Callable[[], None] = staticmethod(lambda: None)
    """Called likewise if the organiser's record cannot be had."""
    on_word: Callable[[], None] = staticmethod(lambda: None)
    """Called likewise if it was read."""

    def __init__(self, dht: DHT, backbone: Sequence[PeerID], run_id: str | None = None) -> None:
        super().__init__(name="backbone monitor", daemon=True)
        self._records = OrganiserRecords(dht, run_id, backbone) if run_id is not None else None
        self._dht, self.peers = dht, tuple(backbone)
        self._known: tuple[PeerID, ...] = ()
        # To have joined the swarm was an answer.
        self._is_near = True
        self._looks = 0
        self._stopped = threading.Event()
        self._asking = threading.Lock()

    def is_near(self) -> bool:
        """Whether the backbone answered the last time. Safe to ask from any thread."""
        return self._is_near

    def ask(self, *, heard_within: float = 0.0) -> bool:
        """Whether the backbone answers now, or was heard within so many seconds; afterwards its peers are this peer's
        again. Blocks for seconds at most."""
        with self._asking:
            ping = partial(
                _ping,
                backbone=self.peers,
                known=self._known,
                was_away=not self._is_near,
                look_up=self._looks % _LOOKUP_EVERY == 0,
                heard_within=heard_within,
            )
            try:
                self._is_near, self._known = self._dht.run_coroutine(ping, return_future=True).result(_TIMEOUT + 1.0)
            except Exception as error:  # noqa: BLE001 - also whatever a DHT that is ending says
                log.info("no answer from the DHT: %r", error)
                self._is_near = False
            self._looks += 1
            return self._is_near

    def _read_record(self) -> None:
        if self._records is None:
            return
        try:
            record = self._records.read()
        except Exception as error:  # noqa: BLE001 - whatever a DHT that is ending says
            log.info("the organiser's record cannot be read: %r", error)
        else:
            self.run_epoch = record.epoch if record is not None else None
            self.validated = record.validated if record is not None else None
            self.on_bans(self._records.bans())
            (self.on_word if record is not None else self.on_silence)()

    def run(self) -> None:
        self._read_record()
        # Others ask, too: their looks must not move the reading's turn.
        for look in itertools.count(1):
            if self._stopped.wait(EVERY):
                return
            was_near = self._is_near
            self.ask(heard_within=EVERY)
            # Also while the backbone is away: what it said before it went must not be believed for good.
            if look % _READ_EVERY == 0 or (self._is_near and not was_near):
                self._read_record()

    def stop(self) -> None:
        self._stopped.set()


async def _ping(
    _dht: DHT,
    node: SparingNode,
    *,
    backbone: Sequence[PeerID],
    known: Sequence[PeerID],
    was_away: bool,
    look_up: bool,
    heard_within: float,
) -> tuple[bool, tuple[PeerID, ...]]:
    """Runs in the DHT's process. Returns whether the backbone answered, and whom to ask next time."""
    table = node.protocol.routing_table
    was_away = was_away or not any(peer in table for peer in backbone)
    is_heard = not was_away and any(
        # What has come from it does not end its suspension here: only an answer to this peer does.
        peer not in node.blacklist and node.has_heard(peer, heard_within)
        for peer in backbone
    )
    answered = is_heard or any(await asyncio.gather(*(_answers(node, peer) for peer in backbone)))
    if backbone and not answered and await close_silent_connections(node.p2p):
        was_away = True
        answered = any(await asyncio.gather(*(_answers(node, peer) for peer in backbone)))
    if not answered:
        # Peers that know each other go on without the backbone, but must not lose each other.
        await asyncio.gather(*(_answers(node, peer) for peer in known if peer not in table))
    elif was_away:
        # That nobody answered was this peer's doing.
        node.blacklist.clear()
    if answered and (was_away or look_up):
        await node.find_nearest_nodes([node.node_id])
    met = [peer for peer in table.peer_id_to_uid if peer not in backbone]
    return answered, tuple(dict.fromkeys([*met, *known]))[:_KNOWN]


async def _answers(node: SparingNode, peer: PeerID) -> bool:
    if await node.protocol.call_ping(peer) is None:
        return False
    node.blacklist.register_success(peer)
    return True

"""Members that found a liar are believed by the others while the organiser is silent, if they are enough."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hivemind import DHT
from hivemind.p2p import PeerID

from core.swarm.averaging.accusations import Accusations
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.dht.work_records import Accusation, WorkRecords, accusations_in
from core.swarm.trust.distrust import Distrust, Drop
from core.swarm.trust.quorum import Influence
from tests.swarm.installed import installed
from tests.waiting import wait_for

LIAR, STRANGER = (str(PeerID(bytes((0x12, 32)) + bytes([number]) * 32)) for number in range(2))
"""Of whom only the first was in rounds. Neither can be reached."""


class Counting:
    """One member that counts what the others say, and two that may have found something."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self.dhts: list[DHT] = []
        for name in ("counting", "first", "second"):
            contact = own_addresses(self.dhts[0]) if self.dhts else ()
            self.dhts.append(join_swarm(contact, folder / name))
            opened.callback(self.dhts[-1].shutdown)
        self.works = [WorkRecords(dht, "run") for dht in self.dhts]
        self.now, self.drops = 0.0, list[Drop]()
        self.influence = Influence()
        own, *others = (str(dht.peer_id) for dht in self.dhts)
        self.influence.add_round({own: 30.0, **dict.fromkeys(others, 20.0), LIAR: 30.0})
        distrust = Distrust(self.drops.append)
        self.accusations = Accusations(
            self.works[0], self.dhts[0].peer_id, self.influence, distrust, clock=lambda: self.now
        )

    def count(self) -> list[tuple[str, str]]:
        self.accusations.count()
        self.now += 100.0
        return [(drop.peer, drop.offence) for drop in self.drops]


@pytest.fixture
def counting(short_folder: Path) -> Iterator[Callable[[], Counting]]:
    with installed(short_folder), ExitStack() as opened:
        yield lambda: Counting(short_folder, opened)


def test_who_is_accused_by_more_than_a_third_is_left_out_and_by_fewer_only_watched(
    counting: Callable[[], Counting],
) -> None:
    made = counting()
    assert made.count() == []
    made.works[1].accuse(LIAR)
    wait_for(lambda: made.count() == [] and made.accusations.accused == {LIAR})
    made.works[2].accuse(STRANGER)
    made.works[2].accuse(LIAR)
    wait_for(lambda: made.count() == [(LIAR, "accused_by_others")])
    assert made.accusations.accused == {LIAR}
    made.accusations.forget()
    assert made.accusations.accused == frozenset(), "the organiser is back"


def test_what_a_stranger_says_is_read_or_left_out() -> None:
    assert accusations_in(b"\x91\x92\xa1a\xcb" + bytes(8)) == (Accusation("a", 0.0),)
    not_utf8 = b"\x91\x92\xa1\x92\xcb" + bytes(8)
    for data in (None, b"", b"\x91\xa1a", b"\x90" * 3, b"\x91\x92\xa1a\xa1b", not_utf8):
        assert accusations_in(data) == ()

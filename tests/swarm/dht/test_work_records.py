"""What peers publish of the samples that they brought to rounds."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from hivemind import DHT
from hypothesis import given
from hypothesis import strategies as st

from core.learning.order import Piece
from core.swarm.dht import work_records
from core.swarm.dht.contributions import slot_of
from core.swarm.dht.peer import LOOPBACK, join_swarm, own_addresses
from core.swarm.dht.records import own_subkey
from core.swarm.dht.work_records import Found, Work, WorkRecords, packed, work_of, works_in
from tests.swarm.installed import installed
from tests.waiting import wait_for

PIECES = st.lists(st.builds(Piece, st.integers(0, 9), st.integers(0, 500), st.integers(1, 64)), max_size=60)


@given(PIECES)
def test_what_is_published_of_work_says_which_pieces_it_was(pieces: list[Piece]) -> None:
    [work] = works_in(packed([work_of(7, pieces, 16)]))
    assert work.epoch == 7
    assert work.pieces() == pieces


def test_pieces_that_follow_each_other_take_few_bytes() -> None:
    def work(epoch: int) -> Work:
        return work_of(epoch, [Piece(epoch, 16 * n, 16) for n in range(1000)], 16)

    assert len(packed([work(epoch) for epoch in range(4)])) < 72


def test_sizes_that_do_not_divide_a_batch_take_few_bytes_too() -> None:
    """As latency sets them: 5, 5, 5, and 1 that remains of 16."""
    pieces = [Piece(7, 16 * n + 5 * part, 5 if part < 3 else 1) for n in range(1000) for part in range(4)]
    work = work_of(7, pieces, 16)
    assert work.pieces() == pieces
    assert len(packed([work])) < 24


@given(st.binary(max_size=200) | st.integers() | st.none())
def test_what_a_stranger_publishes_is_read_or_left_out(data: object) -> None:
    assert isinstance(works_in(data), tuple)


def test_work_of_too_many_pieces_is_left_out() -> None:
    run = [[5, 0, 1], 1 << 16]
    assert works_in(msgspec.msgpack.encode([[5, 16, [run, run]]])) == ()
    assert works_in(msgspec.msgpack.encode([[5, 16, [run]], [6, 16, [run]]])) == ()
    assert works_in(msgspec.msgpack.encode([[5, 16, [run]]])) != ()


def test_of_so_much_work_the_newest_is_published() -> None:
    [much, little] = ([Piece(epoch, at, 1) for at in range(count)] for epoch, count in ((5, 40_000), (6, 30_000)))
    [work] = works_in(packed([work_of(5, much, 1), work_of(6, little, 1)]))
    assert work.epoch == 6


def test_what_a_peer_brought_is_found_by_what_fits_under_its_own_name_alone(short_folder: Path) -> None:
    with installed(short_folder), ExitStack() as opened:
        dhts: list[DHT] = []
        for name in ("a", "b", "c"):
            contact = own_addresses(dhts[0]) if dhts else []
            dhts.append(join_swarm(contact, short_folder / f"{name}.key"))
            opened.callback(dhts[-1].shutdown)
        peers = [dht.peer_id for dht in dhts]
        slots = [slot_of(own_subkey(peer)) for peer in peers]
        first, other, reader = (WorkRecords(dht, "run", batch=16) for dht in dhts)
        assert reader.wait_for(peers[0], slots[0], lambda *_: True, lambda _: True) == Found(None, others=False)

        def samples(count: int, epoch: int = 5) -> Found:
            def fits(at: int, pieces: Sequence[Piece]) -> bool:
                return at == epoch and sum(piece.count for piece in pieces) == count

            return reader.wait_for(peers[0], slots[0], fits, lambda _: True)

        other.publish(5, [Piece(5, 0, 16)])
        wait_for(lambda: samples(32).others, what="another peer's record")
        # The round of 32 samples failed for this peer alone; it brings them again with 16 more.
        first.publish(5, [Piece(5, 0, 16), Piece(5, 16, 16)])
        first.publish(5, [Piece(5, 0, 16), Piece(5, 16, 16), Piece(5, 32, 16)])
        wait_for(lambda: samples(48).pieces, what="the record")
        assert samples(32).pieces == [Piece(5, 0, 16), Piece(5, 16, 16)]
        assert samples(16) == Found(None, others=True)
        assert samples(48, epoch=6) == Found(None, others=True)
        # A peer that names another one's slot has no record there.
        assert reader.wait_for(peers[1], slots[0], lambda *_: True, lambda _: True).pieces is None


@pytest.mark.parametrize("calls_only", [False, True])
def test_who_is_not_found_in_the_dht_is_asked_itself(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch, *, calls_only: bool
) -> None:
    monkeypatch.setattr(work_records, "_TIMEOUT", 0.0)
    with installed(short_folder), ExitStack() as opened:
        validator = join_swarm((), short_folder / "validator.key")
        opened.callback(validator.shutdown)
        listen = None if calls_only else LOOPBACK
        trainer = join_swarm(own_addresses(validator), short_folder / "trainer.key", listen)
        ending = opened.enter_context(ExitStack())
        ending.callback(trainer.shutdown)
        records, reader = WorkRecords(trainer, "run", batch=16), WorkRecords(validator, "run", batch=16)
        # Who keeps the record withholds it.
        monkeypatch.setattr(reader, "_read", lambda *_: Found(None, others=False))

        def found(epoch: int) -> Found:
            fits = lambda at, _pieces: at == epoch  # noqa: E731
            return reader.wait_for(trainer.peer_id, b"", fits, lambda _: False)

        assert found(5) == Found(None, others=False, has_refused=True)
        records.publish(5, [Piece(5, 0, 16)])
        wait_for(lambda: found(5) == Found([Piece(5, 0, 16)], others=False), what="the answer")
        assert found(6) == Found(None, others=False, has_refused=True)
        ending.close()
        assert found(5) == Found(None, others=False)

"""Claims of ten honest sessions and a hundred keys of one attacker, over the real DHT: what the backbone credits."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import msgspec
import pytest

from core.host.contributions import auditor
from core.host.contributions.audit import Audit
from core.host.contributions.auditor import ContributionAuditor
from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.swarm.dht.contributions import slot_of
from core.swarm.dht.peer import join_swarm, own_addresses
from tests.host.contributions.many_keys import Said, Session, batched, put
from tests.learning.small_project import small_manifest
from tests.swarm.installed import installed

RUN, TARGET = "run", 512
SAMPLES = 60
"""Of each honest session in a round."""


class Books:
    """A backbone's, and a peer through which all sessions store."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        opened.enter_context(installed(folder))
        self.dht = join_swarm([], folder / "backbone.key")
        opened.callback(self.dht.shutdown)
        self._other = join_swarm(own_addresses(self.dht), folder / "other.key")
        opened.callback(self._other.shutdown)
        self._store, curve = ContributionStore(folder, RUN), Curve(folder, RUN, 4 * TARGET)
        opened.callback(self._store.close)
        opened.callback(curve.close)
        training = msgspec.structs.replace(small_manifest().training, target_batch_size=TARGET, microbatch_size=16)
        self._audit = Audit(self._store, curve, RUN, training, knows_rounds=True)
        self._epoch, self._now = 0, 1_790_000_000.0
        self._auditor = ContributionAuditor(
            self.dht, RUN, self._audit, self._store, lambda: self._epoch, is_dht_working=lambda: True
        )

    def hear(self, *records: Said) -> None:
        for some in batched(records):
            assert self._other.run_coroutine(partial(put, keeper=self.dht.peer_id, records=some)) == len(some)
        self._poll()

    def make(self, epoch: int, members: Iterable[Session]) -> None:
        """The update that `epoch` begins with, together with these."""
        slots = frozenset((each.peer, slot_of(each.subkey)) for each in members)
        self._audit.add_round(epoch, slots, may_be_others=False)
        self._epoch = epoch
        self._poll()

    def _poll(self) -> None:
        self._now += 1.0
        self._auditor.poll(self._now)

    def totals(self, sessions: Iterable[Session]) -> list[int]:
        found = (self._store.entry(each.volunteer.public_key().public_bytes_raw().hex()) for each in sessions)
        return [entry.samples if entry is not None else 0 for entry in found]


@pytest.fixture
def books(short_folder: Path) -> Iterator[Books]:
    with ExitStack() as opened:
        yield Books(short_folder, opened)


def test_a_hundred_keys_beside_ten_honest_sessions_get_nothing_for_rounds_that_they_were_not_in(books: Books) -> None:
    honest, liars = [Session(RUN) for _ in range(10)], [Session(RUN) for _ in range(100)]
    books.hear(*(each.progress(4, SAMPLES) for each in honest), *(each.progress(4, 4 * TARGET) for each in liars))
    books.make(5, honest)
    books.hear(*(each.claim(5, SAMPLES) for each in (*liars, *honest)))
    assert books.totals(honest) == [SAMPLES] * 10
    assert sum(books.totals(liars)) == 0


def test_a_hundred_keys_that_come_to_the_round_displace_nobody_who_was_there_before(books: Books) -> None:
    """Each claims a little less than an honest session, so that the largest claims are the honest ones."""
    honest, liars = [Session(RUN) for _ in range(10)], [Session(RUN) for _ in range(100)]
    books.hear(*(each.progress(4, SAMPLES) for each in honest))
    books.make(5, honest)
    books.hear(*(each.progress(5, SAMPLES) for each in (*honest, *liars)), *(each.claim(5, SAMPLES) for each in honest))
    assert books.totals(honest) == [SAMPLES] * 10
    books.make(6, [*honest, *liars])
    books.hear(*(each.claim(6, SAMPLES - 1) for each in liars), *(each.claim(6, SAMPLES) for each in honest))
    assert books.totals(honest) == [2 * SAMPLES] * 10
    assert sum(books.totals([*honest, *liars])) <= 4 * TARGET + 10 * SAMPLES


def test_a_hundred_keys_that_report_no_samples_get_nothing_for_a_round_that_they_came_to(books: Books) -> None:
    honest, liars = [Session(RUN) for _ in range(10)], [Session(RUN) for _ in range(100)]
    books.hear(*(each.progress(4, SAMPLES) for each in honest), *(each.progress(4, 0, 0.0) for each in liars))
    books.make(5, [*honest, *liars])
    books.hear(*(each.claim(5, SAMPLES - 1) for each in liars), *(each.claim(5, SAMPLES) for each in honest))
    assert books.totals(honest) == [SAMPLES] * 10
    assert sum(books.totals(liars)) == 0


def test_more_records_than_are_judged_hide_nobody_who_was_there(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    """One key may own any number of places in the DHT."""
    monkeypatch.setattr(auditor, "_MOST_RECORDS", 50)
    honest, liar = [Session(RUN) for _ in range(10)], Session(RUN)
    books.hear(*(Session(RUN, key=liar.key).claim(5, SAMPLES) for _ in range(60)))
    books.hear(*(each.progress(4, SAMPLES) for each in honest))
    books.make(5, honest)
    books.hear(*(each.claim(5, SAMPLES) for each in honest))
    assert books.totals(honest) == [SAMPLES] * 10

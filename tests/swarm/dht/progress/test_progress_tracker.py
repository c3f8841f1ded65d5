"""What a tracker makes of a lying peer's records. Three real peers of the DHT on loopback, one of them hostile."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hivemind import DHT
from hivemind.dht.schema import RSASignatureValidator
from hivemind.optim.progress_tracker import ProgressTracker
from hivemind.utils import ValueWithExpiration, get_dht_time

from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.dht.progress import progress_tracker
from core.swarm.dht.progress.progress_tracker import SwarmProgressTracker
from core.swarm.dht.signing_key import SigningKey
from tests.swarm.installed import installed
from tests.waiting import wait_for

RUN, TARGET = "run", 384
YEARS = 10 * 365 * 86_400.0


class Liar:
    """Plain hivemind, with none of this program's checks."""

    def __init__(self, peer: str) -> None:
        self._signature = RSASignatureValidator(SigningKey())
        self.dht = DHT(initial_peers=[peer], record_validators=[self._signature], start=True, use_relay=False)

    def tell(self, lasts: float = 30.0, **changes: Any) -> None:
        record = {
            "peer_id": self.dht.peer_id.to_bytes(),
            "epoch": 5,
            "samples_accumulated": 16,
            "samples_per_second": 1.0,
            "time": get_dht_time(),
            "client_mode": False,
            **changes,
        }
        slot = self._signature.local_public_key
        self.dht.store(f"{RUN}_progress", subkey=slot, value=record, expiration_time=get_dht_time() + lasts)


class Swarm:
    """Two honest peers at epoch 5 with 16 samples each, seen by one of them; and the liar."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self.organiser: int | None = 5
        opened.enter_context(installed(folder))
        self.dhts = [join_swarm([], folder / "ann.key")]
        self.dhts.append(join_swarm(own_addresses(self.dhts[0]), folder / "ben.key"))
        self.liar = Liar(own_addresses(self.dhts[0])[0])
        self.ann, self.ben = (self._tracker(dht) for dht in self.dhts)
        self.naive = ProgressTracker(self.liar.dht, RUN, TARGET, start=False, client_mode=True)
        for tracker in (self.ann, self.ben):
            tracker.report_local_progress(5, 16)
        for dht in (*self.dhts, self.liar.dht):
            opened.callback(dht.shutdown)
        for tracker in (self.ann, self.ben):
            opened.callback(tracker.shutdown, 5.0)
        self.see(lambda: self.ann.num_peers == 2)

    def _tracker(self, dht: DHT) -> "Tracker":
        return Tracker(
            dht,
            RUN,
            TARGET,
            start=True,
            extrapolate=False,
            organiser=lambda: self.organiser,
        )

    def see(self, condition: Any) -> None:
        def seen() -> bool:
            self.ann.refresh()
            return bool(condition())

        wait_for(seen, 60.0, every=0.2)

    def everybody_has(self, epoch: int) -> None:
        """Wait until a naive tracker, hivemind's own, has seen the lie."""

        def seen() -> bool:
            found = self.naive.dht.get(self.naive.training_progress_key, latest=True)
            progress = self.naive._parse_swarm_progress_data(found.value if found else None)
            return bool(progress.epoch >= epoch or progress.samples_accumulated >= TARGET)

        wait_for(seen, 60.0, "the lie to be believed by hivemind's own tracker", every=0.2)


class Tracker(SwarmProgressTracker):
    @property
    def num_peers(self) -> int:
        return int(self.global_progress.num_peers)


@pytest.fixture
def swarm(short_folder: Path) -> Iterator[Swarm]:
    with ExitStack() as opened:
        yield Swarm(short_folder, opened)


@pytest.mark.timeout(240)
def test_lies_about_the_epoch_move_nobody(swarm: Swarm) -> None:
    for lasts, lie in (
        (30.0, {"epoch": 10**6}),
        (31.0, {"epoch": 2**64 - 1}),
        (32.0, {"epoch": 10**6, "samples_per_second": float("inf"), "time": -1e300}),
        (33.0, {"epoch": 10**6, "samples_accumulated": 10**9}),
        (YEARS, {"epoch": 10**6}),
    ):
        swarm.liar.tell(lasts, **lie)
        swarm.everybody_has(10**6)
        swarm.ann.refresh()
        assert (swarm.ann.global_epoch, swarm.ann.num_peers, swarm.ann.reported_epoch) == (5, 2, 5), lie
        assert not swarm.ann.ready_to_update_epoch
        assert not swarm.ann.is_unbegun


@pytest.mark.timeout(240)
def test_who_is_one_ahead_without_a_state_is_believed_only_until_nobody_has_it(swarm: Swarm) -> None:
    swarm.liar.tell(epoch=6)
    swarm.see(lambda: swarm.ann.global_epoch == 6)
    assert not swarm.ann.has_nothing_to_load
    swarm.ann.add_failed_load()
    swarm.ann.add_failed_load()
    assert swarm.ann.has_nothing_to_load
    assert swarm.ann.global_epoch == 5
    assert swarm.ann.num_peers == 2


@pytest.mark.timeout(240)
def test_a_run_begun_by_its_organisers_word_is_never_begun_again(swarm: Swarm) -> None:
    swarm.organiser = 200
    swarm.liar.tell(client_mode=True, epoch=10**6)
    time.sleep(1.0)
    newcomer = Tracker(swarm.dhts[1], RUN, TARGET, start=False, organiser=lambda: swarm.organiser)
    assert newcomer.global_epoch == 200
    assert not newcomer.is_unbegun


@pytest.mark.timeout(240)
def test_a_billion_samples_bring_no_update_once_the_peers_have_met(swarm: Swarm) -> None:
    ben = str(swarm.dhts[1].peer_id)
    swarm.ann.add_round([ben], is_one_group=True)
    swarm.liar.tell(samples_accumulated=10**9, samples_per_second=1e12, time=-1e300)
    swarm.everybody_has(6)
    swarm.see(lambda: swarm.ann.num_peers == 3)
    assert swarm.ann.global_progress.samples_accumulated <= 16 + 16 + 2 * 16
    assert not swarm.ann.ready_to_update_epoch
    for _ in range(2):
        swarm.ann.add_round([ben], is_one_group=True)
    swarm.ann.refresh()
    assert swarm.ann.num_peers == 2
    assert swarm.ann.global_progress.samples_accumulated <= 32


def test_samples_are_reported_now_and_then_and_at_once_what_nobody_expects(swarm: Swarm) -> None:
    tracker = SwarmProgressTracker(swarm.dhts[1], RUN, TARGET, start=False)

    def is_reported() -> bool:
        reported = tracker.should_report_progress.is_set()
        tracker.should_report_progress.clear()
        return reported

    tracker.report_local_progress(5, 0)
    assert is_reported()  # another epoch
    tracker.report_local_progress(5, 8)
    assert is_reported()  # it computes in this epoch
    for samples in (16, 24, 32):
        tracker.report_local_progress(5, samples)
        assert not is_reported()
    tracker.report_local_progress(5, TARGET)
    assert is_reported()  # the batch is full
    tracker.hold(True, 0)
    assert is_reported()  # it adds no more


def test_a_peer_that_rests_tells_the_others_how_slow_it_has_become(
    swarm: Swarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = SwarmProgressTracker(swarm.dhts[1], RUN, TARGET, start=False)
    now, since = get_dht_time(), time.perf_counter()
    tracker.report_local_progress(5, 0)
    tracker.performance_ema.update(task_size=8, interval=0.1)
    tracker.report_local_progress(5, 8)
    tracker.should_report_progress.clear()
    monkeypatch.setattr(progress_tracker, "get_dht_time", lambda: now + 20.0)
    monkeypatch.setattr(time, "perf_counter", lambda: since + 20.0)
    tracker.report_rest()
    assert tracker.should_report_progress.is_set()
    assert tracker.local_progress.samples_per_second == pytest.approx(8 / 20, rel=0.1)
    tracker.should_report_progress.clear()
    tracker.report_rest()
    assert not tracker.should_report_progress.is_set(), "now the others know"


def test_no_round_begins_for_a_batch_that_is_expected_and_of_which_nobody_has_a_sample(swarm: Swarm) -> None:
    tracker = SwarmProgressTracker(swarm.dhts[1], RUN, TARGET, start=False)
    tracker.report_local_progress(5, 0)
    tracker.global_progress.epoch, tracker.global_progress.samples_accumulated = 5, 0
    tracker.global_progress.eta_next_epoch = get_dht_time() - 1.0
    assert not tracker.ready_to_update_epoch
    tracker.global_progress.samples_accumulated = 8
    assert tracker.ready_to_update_epoch
    tracker.global_progress.samples_accumulated, tracker.global_progress.epoch = 0, 6
    assert tracker.ready_to_update_epoch, "the others have made it"


def test_a_batch_that_nobody_has_begun_is_looked_at_again_soon(swarm: Swarm) -> None:
    backbone = SwarmProgressTracker(swarm.dhts[1], "another run", TARGET, start=False, max_refresh_period=60.0)
    backbone.refresh()
    assert backbone.global_progress.samples_accumulated == 0
    assert backbone.global_progress.next_fetch_time < get_dht_time() + 5.0


def test_what_newcomers_alone_compute_is_looked_at_again_soon(swarm: Swarm) -> None:
    """A first microbatch may take many times as long as the next ones."""
    tracker = SwarmProgressTracker(swarm.dhts[1], "another run", TARGET, start=False, max_refresh_period=60.0)
    peer, now = swarm.dhts[0].peer_id, get_dht_time()
    said = {"epoch": 0, "samples_accumulated": 1, "samples_per_second": 0.01, "time": now, "client_mode": True}
    reports = {b"slot": ValueWithExpiration({"peer_id": peer.to_bytes(), **said}, now + 30.0)}
    assert tracker._parse_swarm_progress_data(reports).next_fetch_time < now + 5.0
    tracker.add_round([str(peer)], is_one_group=True)
    assert tracker._parse_swarm_progress_data(reports).next_fetch_time > now + 5.0


def test_samples_that_others_compute_during_a_round_may_weigh_in_the_next_one(swarm: Swarm) -> None:
    ann, ben = swarm.ann, swarm.ben.local_progress
    swarm.ben.report_local_progress(ben.epoch, ben.samples_accumulated + 8)
    swarm.see(lambda: any(report.samples_per_second > 1.0 for report in ann._credible))

    def may_weigh(seconds: float, *, fails: bool = False) -> float:
        """Seconds of ben's work, after a round of so many seconds; none of the new epoch is reported yet."""
        ann.begin_round()
        time.sleep(seconds)
        if fails:
            ann.end_round()
        with ann.pause_updates():
            ann.update_epoch(ann.local_progress.epoch + 1)
        samples, speed = ann.weight_limits(0).newcomers[ben.peer_id]
        return samples / speed

    assert may_weigh(1.0) >= 1.0
    assert may_weigh(1.0, fails=True) < 1.0


def test_what_partners_compute_during_a_round_counts_before_they_have_reported_it(swarm: Swarm) -> None:
    ann, ben = swarm.ann, swarm.ben.local_progress
    samples = ben.samples_accumulated + 8
    swarm.ben.report_local_progress(ben.epoch, samples)
    swarm.see(lambda: any(report.samples_accumulated == samples for report in ann._credible))
    ann.begin_round()
    time.sleep(1.0)
    with ann.pause_updates():
        ann.update_epoch(ann.local_progress.epoch + 1)
    partner = str(swarm.dhts[1].peer_id)

    def end_of_epoch(*computing_on: str) -> float:
        ann.add_round([partner], is_one_group=True, computing_on=computing_on)
        ann.refresh()
        return float(ann.global_progress.eta_next_epoch)

    counted = (end_of_epoch() - end_of_epoch(partner)) * ann.swarm_samples_per_second
    assert counted >= swarm.ben.local_progress.samples_per_second * 1.0


def test_a_pause_is_still_one_when_the_update_of_a_round_is_made_in_it(swarm: Swarm) -> None:
    swarm.ann.hold(True, 8)
    swarm.ann.report_unmeasured(swarm.ann.local_progress.epoch, 8)
    assert swarm.ann.local_progress.samples_accumulated == 0
    swarm.ann.hold(False, 8)
    assert swarm.ann.local_progress.samples_accumulated == 8


def test_epochs_shorter_than_the_time_between_two_reports_are_seen_all_the_same(swarm: Swarm) -> None:
    swarm.ben._extrapolate = True  # samples are then reported only now and then
    for epoch in range(6, 11):
        with swarm.ben.pause_updates():
            swarm.ben.update_epoch(epoch)
        swarm.see(lambda epoch=epoch: swarm.ann.reported_epoch == epoch)
        swarm.ben.report_local_progress(epoch, 8)
        wait_for(lambda: not swarm.ben.should_report_progress.is_set(), 10.0)


def test_who_takes_part_and_adds_no_samples_is_known_as_such(swarm: Swarm) -> None:
    assert swarm.ann.auxiliary_peers == frozenset()
    swarm.liar.tell(samples_accumulated=0, samples_per_second=1e-20)
    swarm.see(lambda: swarm.ann.auxiliary_peers == {swarm.liar.dht.peer_id.to_bytes()})
    assert swarm.ann.other_trainers == 1

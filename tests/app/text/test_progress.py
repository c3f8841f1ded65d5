"""What a session computes and transfers, in words, as the command line writes them."""

import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from app.cli.console.output import printable
from app.cli.console.session_totals import SessionTotals
from app.cli.status import lines
from app.text import progress
from app.text.formats import region
from app.text.formats.region import Region
from core.api.session_settings import Limits, SessionSettings
from core.api.snapshot import Progress, Session, Snapshot, Today, Traffic

NOON = time.mktime((2026, 3, 5, 12, 0, 0, 0, 0, -1))


@pytest.fixture(autouse=True)
def in_a_terminal() -> Iterator[None]:
    before = region.current()
    region.use(Region())
    yield
    region.use(before)


def test_the_epoch_is_never_more_than_full() -> None:
    assert progress.batch_share(Progress(epoch_samples=300, target_batch_size=200)) == 1.0


def test_an_epoch_without_its_figures_is_left_with_the_peers() -> None:
    assert progress.epoch(Progress(17, peers=1)) == "Epoch 17: 1 peer"
    full = Progress(1017, loss=4.312, peers=5, epoch_samples=2600, target_batch_size=4096)
    assert progress.epoch(full) == "Epoch 1 017: 63 % of 4 096 samples, 5 peers, loss 4.31"


@pytest.mark.parametrize(("loss", "text"), [(4.2, "Epoch 18: loss 4.20"), (None, "Epoch 18")])
def test_a_finished_epoch_has_a_loss_if_somebody_measured_it(loss: float | None, text: str) -> None:
    assert progress.epoch_done(18, loss) == text


def test_a_hostile_name_cannot_control_the_terminal() -> None:
    snapshot = Snapshot(state="contributing", project_name="Bees\x1b]0;owned\x07\r\n\u202e", engine_pid=1)
    assert all(printable(line).isprintable() for line in lines(snapshot, NOON))
    assert printable("Bees\x1b[2J") == "Bees [2J"


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Limits(), []),
        (Limits(threads=2, cache_size=64 << 20), ["Limits: Processor threads 2, Data kept on disk 64 MiB"]),
    ],
)
def test_only_limits_that_differ_from_their_defaults_are_listed(limits: Limits, text: list[str]) -> None:
    said = lines(Snapshot(state="idle", engine_pid=1, settings=SessionSettings(limits=limits)), NOON)
    assert [line.strip() for line in said[1:]] == text


def test_a_session_tells_its_speed_only_while_it_computes() -> None:
    assert progress.own(Progress(samples=1234, samples_per_second=8.2)) == "1 234 samples at 8.2/s"
    assert progress.own(Progress(samples=1234)) == "1 234 samples"


def test_before_a_session_has_found_the_others_nothing_is_said_of_the_run() -> None:
    starting = Snapshot(state="joining", engine_pid=1, session=Session(7, NOON), progress=Progress(target_batch_size=9))
    assert not any(line.strip().startswith("Epoch") for line in lines(starting, NOON))
    joined = replace(starting, progress=replace(starting.progress, peers=1))
    assert "  Epoch 0: 0 % of 9 samples, 1 peer" in [printable(line) for line in lines(joined, NOON)]


def test_totals_count_from_the_first_snapshot_on() -> None:
    given = SessionTotals().after(_snapshot(100, 1000)).after(_snapshot(130, 1500)).after(_snapshot(150, 2500))
    assert (given.sums["samples"], given.sums["uploaded"]) == (50, 1500)


def test_totals_survive_midnight_and_a_new_session() -> None:
    given = SessionTotals().after(_snapshot(100, 1000)).after(_snapshot(10, 200)).after(_snapshot(30, 250))
    assert (given.sums["samples"], given.sums["uploaded"]) == (30, 250)


def test_totals_of_nothing_have_a_sentence() -> None:
    assert SessionTotals().after(_snapshot(100, 0)).sentence() == "Nothing was given this time."


def test_totals_are_one_sentence() -> None:
    end = Snapshot(state="idle", today=Today(1234, 720.0, 17), traffic=Traffic(34_000_000, 12_000_000))
    given = SessionTotals().after(Snapshot(state="idle")).after(end).sentence()
    assert given == "Given: 1 234 samples towards 17 epochs in 12 min; 34.0 MB sent, 12.0 MB received."


def _snapshot(samples: int, uploaded: int) -> Snapshot:
    return Snapshot(state="contributing", today=Today(samples=samples), traffic=Traffic(uploaded=uploaded))

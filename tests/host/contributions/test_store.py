"""What a backbone keeps of sessions that give nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.host.contributions import store as module
from core.host.contributions.store import Claim, ContributionStore, Slot


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ContributionStore]:
    made = ContributionStore(tmp_path, "run")
    yield made
    made.close()


def test_of_sessions_that_have_gone_and_claimed_nothing_only_the_latest_are_kept(
    store: ContributionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody can report progress under as many keys as they like, and the disk must not fill up with them."""
    monkeypatch.setattr(module, "_KEPT_SLOTS", 2)
    for epoch in range(10):
        store.set_slot(Slot(f"slot{epoch}", "peer", epoch, 0))
    store.accept([Claim(1, "slot0", "ann", 60)], None, 0.0)
    store.prune(10, present=["slot3"])
    assert [number for number in range(10) if store.slot(f"slot{number}")] == [0, 3, 8, 9]
    entry = store.entry("ann")
    assert entry is not None
    assert entry.samples == 60

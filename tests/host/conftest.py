"""What a backbone publishes, its web server, and its audit of claims."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.host.project import load
from core.host.web.published import PublishedRun, RunStatus
from core.host.web.server import Web
from tests.host.books import Books, Peer
from tests.host.web_client import PEER, PRACTICE


@pytest.fixture(autouse=True)
def closes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred tests close a server, each of which would take a fifth of a second."""
    monkeypatch.setattr("core.host.web.server._POLL_INTERVAL", 0.01)


@pytest.fixture
def published(tmp_path: Path) -> Iterator[PublishedRun]:
    """The practice project's, with a run of epoch 3."""
    project = load(PRACTICE / "project.toml")
    curve = Curve(tmp_path, "run", most_samples=1000)
    curve.add_training("a", epoch=1, loss=6.5, samples=512, at=10.0, current=1)
    curve.add_evaluation(1, 6.0, at=11.0)
    store = ContributionStore(tmp_path, "run")
    made = PublishedRun(project.files, curve, store, tmp_path / "checkpoints")
    made.manifest = project.manifest(tmp_path, [PEER])
    made.status = RunStatus(epoch=3, peers=2, at=time.time())
    yield made
    curve.close()
    store.close()


@pytest.fixture
def server(published: PublishedRun) -> Iterator[Web]:
    running = Web(published, "127.0.0.1:0")
    yield running
    running.close()


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    opened = Books(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def ann(books: Books) -> Peer:
    """Has given 170 of the 512 samples of the first round, together with Ben and Cem."""
    peers = [Peer("ann"), Peer("ben"), Peer("cem")]
    books.see(0, *(peer.reports(0, 170) for peer in peers))
    books.see(1, *(peer.reports(1, 3) for peer in peers))
    books.hear(*(peer.claims(1, 172) for peer in peers))
    return peers[0]

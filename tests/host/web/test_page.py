"""The backbone's page in a real browser, and its figures for other programs."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import msgspec
import pytest
import requests

from core.api.project.demonstration import Demonstration, Span
from core.host.contributions.store import Claim, ContributionStore
from core.host.curve import Curve
from core.host.project import load
from core.host.web.page import _LEFT_OUT
from core.host.web.published import DroppedPeer, Jump, PublishedRun, RunStatus
from core.host.web.server import Web
from core.swarm.trust.distrust import Offence

PRACTICE = Path(__file__).parents[3] / "resources" / "practice"
PEER = "/ip4/192.0.2.1/tcp/31337/p2p/12D3KooWJ7TyrZcJ4BNrUdgCkHQKAzfAzfmAhp2bqMqXWzVvRxFL"
ANN, BEN, CEM = ("a1" * 32, "b2" * 32, "c3" * 32)
EVIL = "<script>document.title='taken'</script>"
_QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
)  # fmt: skip


@pytest.fixture
def published(tmp_path: Path) -> Iterator[PublishedRun]:
    project = load(PRACTICE / "project.toml")
    curve, store = Curve(tmp_path, "run", 4096), ContributionStore(tmp_path, "run")
    for epoch in range(1, 40):
        curve.add_training("a", epoch=epoch, loss=6.0 / epoch + 2.0, samples=512, at=float(epoch), current=epoch)
        curve.add_evaluation(epoch, 6.5 / epoch + 2.2, at=float(epoch))
    at = 1_750_000_000.0
    store.accept([Claim(epoch, "slot-a", ANN, 300) for epoch in range(1, 11)], "Ann of the Hill", at)
    store.accept([Claim(epoch, "slot-b", BEN, 150) for epoch in range(1, 11)], None, at + 60)
    store.accept([Claim(1, "slot-c", CEM, 10)], EVIL, at + 120)
    store.reject("inflated")
    published = PublishedRun(project.files, curve, store, tmp_path / "checkpoints")
    published.manifest = project.manifest(tmp_path, [PEER])
    published.status = RunStatus(epoch=39, peers=3, samples_per_second=120.5, at=time.time())
    yield published
    curve.close()
    store.close()


def browse(url: str, profile: Path, *options: str) -> str:
    """What Chromium has on the page after loading it; nothing but `url` can be reached."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    only_here = f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    done = subprocess.run(
        [program, *_QUIET, *only_here, *options, url], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_browser_shows_the_leaderboard(server: Web, tmp_path: Path) -> None:
    dom = browse(server.url, tmp_path / "browser", "--dump-dom")
    (table,) = re.findall(r'<table id="leaderboard">(.*?)</table>', dom, re.DOTALL)
    rows = [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td.*?>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], re.DOTALL)
    ]
    assert [row[:5] for row in rows] == [
        ["1", "Ann of the Hill a1a1 a1a1", "3,000", "66.5%", "10"],
        ["2", "b2b2 b2b2", "1,500", "33.3%", "10"],
        ["3", "&lt;script&gt;document.title='taken'&lt;/script&gt; c3c3 c3c3", "10", "0.2%", "1"],
    ]
    assert "Self-reported" in dom
    assert "<title>Practice: guess Shakespeare's words</title>" in dom
    assert not re.findall(r'(?:src|href)="', dom), "nothing from elsewhere"


def test_the_page_shows_what_the_model_has_learned_and_nothing_of_it_is_markup(
    published: PublishedRun, server: Web
) -> None:
    assert "What it has learned so far" not in requests.get(server.url, timeout=5).text
    assert requests.get(f"{server.url}demonstration.json", timeout=5).json() is None
    spans = (Span(EVIL), Span(" king", is_made=True), Span(" cat", is_made=True, right="<b>queen"))
    published.curve.show(Demonstration("filled_masks", spans, b"\x89PNG", epoch=12))
    answer = requests.get(server.url, timeout=5)
    assert "What it has learned so far" in answer.text
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", answer.text.partition('id="demonstration"')[2]))
    assert "&lt;script&gt;document.title=&#39;taken&#39;&lt;/script&gt; [king] [cat ≠ &lt;b&gt;queen]" in words
    assert EVIL not in answer.text
    assert 'src="data:image/png;base64,iVBORw=="' in answer.text
    assert answer.headers["Content-Security-Policy"].endswith("img-src data:")
    served = requests.get(f"{server.url}demonstration.json", timeout=5).content
    assert msgspec.json.decode(served, type=Demonstration) == published.curve.demonstration


def test_programs_read_the_leaderboard_and_their_own_place(server: Web) -> None:
    answer = requests.get(f"{server.url}leaderboard.json?volunteer={BEN}", timeout=10).json()
    assert [(entry["place"], entry["volunteer"], entry["samples"]) for entry in answer["entries"]] == [
        (1, ANN, 3000),
        (2, BEN, 1500),
        (3, CEM, 10),
    ]
    assert (answer["you"]["place"], answer["volunteers"], answer["samples"]) == (2, 3, 4510)
    assert answer["self_reported"] is True
    assert answer["rejected"] == {"inflated": 1}
    unknown = requests.get(f"{server.url}leaderboard.json?volunteer=%27;drop", timeout=10)
    assert unknown.json()["you"] is None


def test_one_volunteers_totals_have_an_address(server: Web) -> None:
    answer = requests.get(f"{server.url}volunteers/{ANN}.json", timeout=10).json()
    assert (answer["name"], answer["samples"], answer["rounds"]) == ("Ann of the Hill", 3000, 10)
    assert requests.get(f"{server.url}volunteers/{'d4' * 32}.json", timeout=10).status_code == 404


def test_prometheus_can_read_the_metrics(server: Web) -> None:
    answer = requests.get(f"{server.url}metrics", timeout=10)
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    sample = re.compile(r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? [0-9.e+-]+')
    assert all(line.startswith("# ") or sample.fullmatch(line) for line in lines), lines
    assert f'idlehive_volunteer_samples{{volunteer="{ANN}",name="Ann of the Hill"}} 3000' in lines
    assert 'idlehive_rejected_contributions_total{reason="inflated"} 1' in lines
    assert "idlehive_accepted_samples 4510" in lines


def test_peers_over_time_are_averages_of_minutes(tmp_path: Path) -> None:
    store = ContributionStore(tmp_path, "run")
    for minute, peers in enumerate((2, 4, 9)):
        store.record_presence(peers, 10.0 * peers, at=6000.0 + 60 * minute)
        store.record_presence(peers, 10.0 * peers, at=6030.0 + 60 * minute)
    (point,) = store.presence(0.0, 10)
    store.close()
    assert (point.at, point.peers, point.samples_per_second) == (6000.0, 5.0, 50.0)


def test_the_page_and_the_health_say_that_the_run_went_back(published: PublishedRun, server: Web) -> None:
    status = RunStatus(epoch=42, at=time.time(), jump=Jump(39, 7.6, 6.0, 30, time.time()))
    published.status = status
    page = requests.get(server.url, timeout=5).text
    assert "rose from 6 to 7.6 at epoch" in page
    assert "went back to the state of epoch" in page
    assert requests.get(f"{server.url}/health.json", timeout=5).json()["jump"]["to_epoch"] == 30


def test_the_page_says_who_was_left_out_why_and_for_how_long(published: PublishedRun, server: Web) -> None:
    assert set(_LEFT_OUT) == set(get_args(Offence))
    assert "Left out" not in requests.get(server.url, timeout=5).text
    dropped = [DroppedPeer("QmLiar", "average_wrong", 1_750_000_000.0, 3600.0)]
    published.status = RunStatus(epoch=42, at=time.time(), dropped=dropped)
    table = requests.get(server.url, timeout=5).text.partition('id="dropped"')[2]
    row = re.findall(r"<td.*?>(.*?)</td>", table)[:4]
    assert row == ["<code>QmLiar</code>", "It gave a wrong average.", "15:06", "60"]

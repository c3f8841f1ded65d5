"""The backbone's pages and files over HTTP, on a real server."""

import hashlib
import json
import time
from pathlib import Path
from threading import Event

import msgspec
import pytest
import requests
import torch

from core.api.project.manifest_reading import parse
from core.api.project.projects import Figure
from core.host.web.published import DroppedPeer, PublishedRun, RunStatus
from core.host.web.server import Web
from core.learning import checkpoints
from core.learning.data.download import Client
from core.learning.data.fetch import Fetcher
from core.system.cache import Cache
from tests.fakes.http_server import LOOPBACK
from tests.host.web_client import PRACTICE, get


def test_a_volunteer_reads_the_manifest_and_fetches_all_its_files(server: Web, tmp_path: Path) -> None:
    address = server.url + "manifest.json"
    manifest = parse(requests.get(address, timeout=10).content, address)
    cache = Cache(tmp_path / "cache", 1 << 30)
    files = manifest.needed_files(manifest.data.portions[0])
    paths = Fetcher(cache, Client(None, None, LOOPBACK), Event()).fetch(files)
    cache.close()
    assert paths[0].read_bytes() == (PRACTICE / "tokenizer.json").read_bytes()
    assert b"".join(path.read_bytes() for path in paths[1:]) == b"".join(
        (PRACTICE / f"train-{number}.txt").read_bytes() for number in range(4)
    )


def test_a_cut_download_goes_on_at_this_server(server: Web, published: PublishedRun, tmp_path: Path) -> None:
    shard = parse(msgspec.json.encode(published.manifest), server.url).data.shards[0]
    cache = Cache(tmp_path / "cache", 1 << 30)
    cache.part(shard).write_bytes((PRACTICE / "train-0.txt").read_bytes()[:1000])
    (path,) = Fetcher(cache, Client(None, None, LOOPBACK), Event()).fetch([shard])
    cache.close()
    assert path.read_bytes() == (PRACTICE / "train-0.txt").read_bytes()


def test_the_catalogue_lists_the_project(server: Web) -> None:
    _, body = get(server, "/catalogue.json")
    (entry,) = json.loads(body)["projects"]
    assert (entry["id"], entry["license"], entry["manifest"]) == ("shakespeare", "CC0-1.0", "manifest.json")
    assert set(entry) == {"id", "name", "summary", "organiser", "license", "manifest"}


def test_the_curve_grows_with_the_run(server: Web, published: PublishedRun) -> None:
    point = {"epoch": 1, "loss": 6.5, "evaluation_loss": 6.0, "peers": 1, "samples": 512, "at": 10.0}
    assert json.loads(get(server, "/curve.json")[1]) == {"points": [point]}
    published.curve.add_evaluation(2, 5.5, at=12.0, figure=Figure("perplexity", 244.7))
    newest = json.loads(get(server, "/curve.json?since=2")[1])["points"][0]
    assert newest["figure"] == {"kind": "perplexity", "value": 244.7}
    assert "On held-out data, epoch 2: perplexity 244.70." in get(server, "/")[1].decode()
    assert 'idlehive_evaluation_figure{kind="perplexity"} 244.7' in get(server, "/metrics")[1].decode()
    assert [point["epoch"] for point in json.loads(get(server, "/curve.json")[1])["points"]] == [1, 2]
    assert [point["epoch"] for point in json.loads(get(server, "/curve.json?since=2")[1])["points"]] == [2]


def test_the_latest_checkpoint_is_described_and_served(server: Web, published: PublishedRun) -> None:
    assert get(server, "/checkpoints/latest.json")[0].status == 404
    for epoch in (1, 2):
        checkpoints.save(published.checkpoint_folder, {"w": torch.ones(100)}, epoch=epoch, run_id="run")
    facts = json.loads(get(server, "/checkpoints/latest.json")[1])
    assert facts["epoch"] == 2
    response, body = get(server, f"/checkpoints/{facts['url']}")
    assert response.status == 200
    assert (hashlib.sha256(body).hexdigest(), len(body)) == (facts["sha256"], facts["size"])


def test_a_backbone_whose_dht_does_not_answer_is_not_healthy(published: PublishedRun, server: Web) -> None:
    published.status = RunStatus(3, 2, at=time.time() - 60.0)
    answer, body = get(server, "/health.json")
    assert (answer.status, json.loads(body)["status"]) == (503, "dht_silent")
    # It is asked every 15 s, and one question has failed.
    published.status = RunStatus(3, 2, at=time.time() - 40.0)
    assert get(server, "/health.json")[0].status == 200


def test_who_was_dropped_and_why_is_in_health_and_metrics(published: PublishedRun, server: Web) -> None:
    dropped = [DroppedPeer("QmX", "values_out_of_range", time.time(), 60.0)]
    published.status = RunStatus(3, 2, at=time.time(), dropped=dropped)
    health = json.loads(get(server, "/health.json")[1])
    assert [(peer["peer"], peer["reason"], peer["seconds"]) for peer in health["dropped_peers"]] == [
        ("QmX", "values_out_of_range", 60.0)
    ]
    metrics = get(server, "/metrics")[1].decode()
    assert 'idlehive_dropped_peers{reason="values_out_of_range"} 1\n' in metrics


def test_health_has_epoch_and_peers(server: Web) -> None:
    health = json.loads(get(server, "/health.json")[1])
    assert (health["status"], health["epoch"], health["peers"]) == ("ok", 3, 2)
    assert abs(health["at"] - time.time()) < 60


def test_a_backbone_that_is_starting_says_so(published: PublishedRun) -> None:
    published.manifest = None
    server = Web(published, "127.0.0.1:0")
    try:
        assert get(server, "/manifest.json")[0].status == 503
        assert get(server, "/health.json")[0].status == 503
        assert json.loads(get(server, "/catalogue.json")[1]) == {"projects": []}
        assert b"is starting" in get(server, "/")[1]
    finally:
        server.close()


def test_the_page_shows_the_run_and_how_to_join(server: Web) -> None:
    response, body = get(server, "/")
    text = body.decode()
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Practice: guess Shakespeare&#39;s words" in text
    assert "<circle" in text
    assert f"idlehive projects add {server.url}manifest.json" in text


def test_what_an_organiser_or_visitor_writes_cannot_become_markup(published: PublishedRun) -> None:
    assert published.manifest
    published.manifest = msgspec.structs.replace(published.manifest, name="<script>", summary="</p><script>")
    server = Web(published, "127.0.0.1:0")
    try:
        text = get(server, "/", Host="<script>alert(1)</script>")[1].decode()
    finally:
        server.close()
    assert "<script" not in text


@pytest.mark.parametrize(
    "path",
    [
        "/data/../../../etc/passwd",
        "/data/..%2f..%2fetc%2fpasswd",
        "/data//etc/passwd",
        "/data/project.toml",
        "/data/",
        "/checkpoints/../run_id",
        "/checkpoints/..%2frun_id",
        "/checkpoints/%00",
        "//etc/passwd",
        "/http://[::1",
        "/run_id",
    ],
)
def test_nothing_outside_the_table_is_served(server: Web, path: str) -> None:
    assert get(server, path)[0].status == 404

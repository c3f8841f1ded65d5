"""Responses of the backbone's web server. Paths are keys of tables and never become paths on disk."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from core.host.project.files import ServedFile
from core.host.web import page, ranking
from core.host.web.published import PublishedRun
from core.learning import checkpoints

Query = dict[str, str]


@dataclass(frozen=True)
class Answer:
    """A response, without a file's content."""

    status: int
    body: bytes = b""
    type: str = "application/json"
    file: ServedFile | None = None
    headers: tuple[tuple[str, str], ...] = ()


def answer(published: PublishedRun, target: str, host: str) -> Answer:
    """The response to a GET of `target`; `host` is the client's name for this server."""
    try:
        url = urlsplit(target)
    except ValueError:
        return error(400, "this is not an address")
    path, query = unquote(url.path), parse_qs(url.query)
    folder, _, name = path.removeprefix("/").partition("/")
    if folder == "data" and (file := published.files.get(name)):
        return Answer(200, file=file, type=_type(file.path))
    if folder == "checkpoints" and name != "latest.json" and (file := published.checkpoint(name)):
        return Answer(200, file=file, type="application/octet-stream")
    if folder == "volunteers" and (totals := ranking.volunteer_json(published, _key(name.removesuffix(".json")))):
        return Answer(200, totals)
    if path in _GENERATED:
        return _GENERATED[path](published, {name: values[0] for name, values in query.items()}, host)
    return error(404, "there is nothing at this address")


def _page(published: PublishedRun, _query: Query, host: str) -> Answer:
    policy = ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    return Answer(200, page.render(published, host), "text/html; charset=utf-8", headers=(policy,))


def _manifest(published: PublishedRun, _query: Query, _host: str) -> Answer:
    if published.manifest is None:
        return error(503, "the backbone is still starting")
    return Answer(200, msgspec.json.encode(published.manifest))


def _catalogue(published: PublishedRun) -> list[dict[str, str]]:
    made = published.manifest
    if made is None:
        return []
    words = {field: getattr(made, field) for field in ("id", "name", "summary", "organiser", "license")}
    return [{**words, "manifest": "manifest.json"}]


def _latest(published: PublishedRun, _query: Query, _host: str) -> Answer:
    paths = checkpoints.saved(published.checkpoint_folder)
    file = published.checkpoint(paths[-1].name) if paths else None
    if file is None:
        return error(404, "there is no checkpoint yet")
    name = file.path.name
    facts = {"epoch": checkpoints.epoch_of(file.path), "url": name, "size": file.size, "sha256": file.sha256}
    return Answer(200, msgspec.json.encode({**facts, "run_id": published.manifest and published.manifest.run_id}))


def _health(published: PublishedRun, _query: Query, _host: str) -> Answer:
    status, manifest, health = published.status, published.manifest, published.health
    facts = {
        "status": health,
        "run_id": manifest and manifest.run_id,
        "epoch": status.epoch,
        "peers": status.peers,
        "samples_per_second": status.samples_per_second,
        "at": status.at,
        "dropped_peers": status.dropped,
        "jump": status.jump,
    }
    return Answer(200 if health == "ok" else 503, msgspec.json.encode(facts))


def error(status: int, problem: str) -> Answer:
    return Answer(status, msgspec.json.encode({"error": problem}))


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else 0


_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_GENERATED: dict[str, Callable[[PublishedRun, Query, str], Answer]] = {
    "/": _page,
    "/manifest.json": _manifest,
    "/catalogue.json": lambda published, _, __: Answer(200, msgspec.json.encode({"projects": _catalogue(published)})),
    "/curve.json": lambda published, query, _: Answer(200, published.curve_json(_number(query.get("since", "0")))),
    "/demonstration.json": lambda published, _, __: Answer(200, msgspec.json.encode(published.curve.demonstration)),
    "/leaderboard.json": lambda published, query, _: Answer(
        200, ranking.leaderboard_json(published, _key(query.get("volunteer", "")))
    ),
    "/peers.json": lambda published, _, __: Answer(200, ranking.peers_json(published)),
    "/metrics": lambda published, _, __: Answer(200, ranking.metrics_text(published), _PROMETHEUS),
    "/checkpoints/latest.json": _latest,
    "/health.json": _health,
}
"""Handlers get the published run, the query, and the client's name for this server."""


def _key(text: str) -> str:
    return text if re.fullmatch(r"[0-9a-f]{64}", text) else ""


def _type(path: Path) -> str:
    known = {".json": "application/json", ".txt": "text/plain; charset=utf-8", ".png": "image/png"}
    return known.get(path.suffix.lower(), "application/octet-stream")

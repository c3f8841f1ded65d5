"""Contributions as the web server shows them: JSON for programs, rows for the page, and text for Prometheus."""

import time
from collections.abc import Iterator

import msgspec

from core.host.contribution_store import Presence
from core.host.web.published import PublishedRun

LABEL = "Counted by the volunteers themselves; the backbone refuses what cannot be true."
_DAYS = 7
_STEP = 10
"""Minutes, and days shown, of peers over time."""


def leaderboard_json(published: PublishedRun, volunteer: str) -> bytes:
    """The volunteers with the most samples; `you` is the rank of `volunteer`, listed or not."""
    volunteers, samples = published.store.totals()
    table = {
        "run_id": published.manifest and published.manifest.run_id,
        "epoch": published.status.epoch,
        "self_reported": True,
        "note": LABEL,
        "volunteers": volunteers,
        "samples": samples,
        "entries": published.store.leaders(),
        "you": published.store.entry(volunteer) if volunteer else None,
        "rejected": published.store.rejections(),
    }
    return msgspec.json.encode(table)


def volunteer_json(published: PublishedRun, volunteer: str) -> bytes | None:
    """One volunteer's totals; None without an accepted contribution."""
    entry = published.store.entry(volunteer)
    return None if entry is None else msgspec.json.encode({"self_reported": True, **msgspec.structs.asdict(entry)})


def peers_json(published: PublishedRun) -> bytes:
    """Peers over time."""
    return msgspec.json.encode({"self_reported": True, "minutes": _STEP, "points": presence(published)})


def presence(published: PublishedRun) -> list[Presence]:
    """Peers of the last days."""
    return published.store.presence(time.time() - _DAYS * 86_400, _STEP)


def metrics_text(published: PublishedRun) -> bytes:
    """The Prometheus text format, version 0.0.4."""
    return "".join(f"{line}\n" for line in _metrics(published)).encode()


def _metrics(published: PublishedRun) -> Iterator[str]:
    status = published.status
    volunteers, samples = published.store.totals()
    yield from _one("epoch", "gauge", "Epoch of the run.", status.epoch)
    yield from _one("peers", "gauge", "Peers that add samples now, self-reported.", status.peers)
    speed = status.samples_per_second
    yield from _one("samples_per_second", "gauge", "Speed of all peers together, self-reported.", speed)
    yield from _one("volunteers", "gauge", "Volunteers of whom a contribution was accepted.", volunteers)
    yield from _one("accepted_samples", "gauge", "Samples accepted from volunteers, self-reported.", samples)
    recent = published.curve.points(max(0, status.epoch - 50))
    for name, what in (("loss", "Training loss, self-reported"), ("evaluation_loss", "Loss on held-out data")):
        losses = [loss for point in recent if (loss := getattr(point, name))]
        if losses:
            yield from _one(name, "gauge", f"{what}, of the last epoch that has one.", losses[-1])
    if figure := next((point.figure for point in reversed(recent) if point.figure), None):
        yield from _head("evaluation_figure", "gauge", "What the task measures on held-out data, by its kind.")
        yield f'idlehive_evaluation_figure{{kind="{_escaped(figure.kind)}"}} {figure.value}'
    yield from _head("rejected_contributions_total", "counter", "Contributions that were refused, by reason.")
    for reason, count in published.store.rejections().items():
        yield f'idlehive_rejected_contributions_total{{reason="{_escaped(reason)}"}} {count}'
    yield from _head("volunteer_samples", "gauge", "Accepted samples of those who gave most, self-reported.")
    for entry in published.store.leaders():
        labels = f'volunteer="{entry.volunteer}",name="{_escaped(entry.name or "")}"'
        yield f"idlehive_volunteer_samples{{{labels}}} {entry.samples}"


def _one(name: str, kind: str, text: str, value: float) -> Iterator[str]:
    yield from _head(name, kind, text)
    yield f"idlehive_{name} {value}"


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP idlehive_{name} {text}"
    yield f"# TYPE idlehive_{name} {kind}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")

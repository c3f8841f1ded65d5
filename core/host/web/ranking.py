"""Contributions as the web server shows them: JSON for programs, rows for the page, and text for Prometheus."""

import time
from collections import Counter

import msgspec

from core.host.contributions.store import Presence
from core.host.web.published import PublishedRun
from core.host.web.templates import fill_in

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
    return msgspec.json.encode({"self_reported": True, "minutes": _STEP, "points": presence(published)})


def presence(published: PublishedRun) -> list[Presence]:
    return published.store.presence(time.time() - _DAYS * 86_400, _STEP)


def metrics_text(published: PublishedRun) -> bytes:
    """The Prometheus text format, version 0.0.4."""
    volunteers, samples = published.store.totals()
    recent = published.curve.points(max(0, published.status.epoch - 50))
    latest = {
        name: next((value for point in reversed(recent) if (value := getattr(point, name))), None)
        for name in ("loss", "evaluation_loss", "figure")
    }
    return fill_in(
        "metrics.txt",
        status=published.status,
        volunteers=volunteers,
        samples=samples,
        rejections=published.store.rejections(),
        dropped=Counter(peer.reason for peer in published.status.dropped),
        leaders=published.store.leaders(),
        **latest,
    )

"""What the web server tells of contributions: JSON for programs, rows for the page, and text for Prometheus."""

import time
from collections.abc import Iterator

import msgspec

from core.host.contribution_store import Presence
from core.host.web.published import Board

LABEL = "Counted by the volunteers themselves; the backbone refuses what cannot be true."
_DAYS = 7
_STEP = 10
"""Minutes, and days shown, of peers over time."""


def leaderboard_json(board: Board, volunteer: str) -> bytes:
    """Those who gave most; and `you`, the place of `volunteer`, on the board or not."""
    volunteers, samples = board.store.totals()
    told = {
        "run_id": board.manifest and board.manifest.run_id,
        "epoch": board.standing.epoch,
        "self_reported": True,
        "note": LABEL,
        "volunteers": volunteers,
        "samples": samples,
        "entries": board.store.leaders(),
        "you": board.store.entry(volunteer) if volunteer else None,
        "rejected": board.store.rejections(),
    }
    return msgspec.json.encode(told)


def volunteer_json(board: Board, volunteer: str) -> bytes | None:
    """One volunteer's totals; None: nothing of theirs was accepted."""
    entry = board.store.entry(volunteer)
    return None if entry is None else msgspec.json.encode({"self_reported": True, **msgspec.structs.asdict(entry)})


def peers_json(board: Board) -> bytes:
    """Peers over time."""
    return msgspec.json.encode({"self_reported": True, "minutes": _STEP, "points": presence(board)})


def presence(board: Board) -> list[Presence]:
    """Of the last days."""
    return board.store.presence(time.time() - _DAYS * 86_400, _STEP)


def metrics_text(board: Board) -> bytes:
    """The Prometheus text format, version 0.0.4."""
    return "".join(f"{line}\n" for line in _metrics(board)).encode()


def _metrics(board: Board) -> Iterator[str]:
    standing = board.standing
    volunteers, samples = board.store.totals()
    yield from _one("epoch", "gauge", "Epoch of the run.", standing.epoch)
    yield from _one("peers", "gauge", "Peers that add samples now, self-reported.", standing.peers)
    speed = standing.samples_per_second
    yield from _one("samples_per_second", "gauge", "Speed of all peers together, self-reported.", speed)
    yield from _one("volunteers", "gauge", "Volunteers of whom a contribution was accepted.", volunteers)
    yield from _one("accepted_samples", "gauge", "Samples accepted from volunteers, self-reported.", samples)
    for name, what in (("loss", "Training loss, self-reported"), ("evaluation_loss", "Loss on held-out data")):
        told = [loss for point in board.curve.points(max(0, standing.epoch - 50)) if (loss := getattr(point, name))]
        if told:
            yield from _one(name, "gauge", f"{what}, of the last epoch that has one.", told[-1])
    yield from _head("rejected_contributions_total", "counter", "Contributions that were refused, by reason.")
    for reason, count in board.store.rejections().items():
        yield f'idlehive_rejected_contributions_total{{reason="{_escaped(reason)}"}} {count}'
    yield from _head("volunteer_samples", "gauge", "Accepted samples of those who gave most, self-reported.")
    for entry in board.store.leaders():
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

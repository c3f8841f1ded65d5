"""What is going on, in sentences: pure functions of a snapshot and the time (UTC seconds)."""

from typing import Literal

from app.text import messages
from app.text.formats import numbers, times
from app.text.formats.sentences import closed, open_end
from app.text.i18n import N_, tr, translate, trn
from app.text.reasons import headline_with_end, is_paused, main_detail, main_reason, other_reasons, sentence_with_end
from app.text.steps import getting_ready, is_getting_ready, place_in_getting_ready, step_meaning
from core.api.reasons import Kind, Severity
from core.api.snapshot import Place, Progress, Snapshot

Tone = Literal["good", "working", "quiet", "paused", "problem"]
"""How a state looks: green, accent, grey, grey with bars, red."""


_REACHABILITY = {
    "open_port": N_("Reachable: open port"),
    "router": N_("Reachable: port mapped by the router"),
    "ipv6": N_("Reachable: IPv6"),
    "blocked": N_("Only outgoing connections: none arrives at its port"),
    "second_router": N_("Only outgoing connections: another router is between yours and the internet"),
    "no_mapping": N_("Only outgoing connections: the router opens no port"),
    "outgoing": N_("Only outgoing connections"),
}
_A_DAY = 86_400.0


def status(snapshot: Snapshot, now: float) -> str:
    """The state in one sentence, as in the tray."""
    if snapshot.silence:
        return tr("No news from the session since {time}", time=times.second(snapshot.silence.since))
    match snapshot.state:
        case "contributing":
            return tr("Contributing to {project}", project=project(snapshot))
        case "starting":
            return _with_transfer(snapshot, tr("Getting ready"), tr("Getting ready: fetching {amount}"))
        case "joining":
            return tr("Looking for peers")
        case "syncing":
            return _catching_up(snapshot)
        case "leaving":
            return tr("Leaving the peers")
        case "failed":
            return _failure(snapshot, now)
        case "idle" | "holding":
            reason = main_reason(snapshot)
            if reason is None or (reason.kind == Kind.NO_PROJECT and not snapshot.wanted):
                return tr("Getting ready") if snapshot.wanted else tr("Ready to contribute")
            return headline_with_end(reason, now)


def caption(snapshot: Snapshot, now: float) -> str:
    """The state above the project's name: shorter than `status`, since the page has room for the rest elsewhere."""
    if snapshot.state == "contributing" and not snapshot.silence:
        return tr("Contributing")
    if snapshot.state == "failed":
        return _retry(snapshot, now) or tr("Stopped")
    return status(snapshot, now)


def title(snapshot: Snapshot) -> str:
    """The page's one headline."""
    return project(snapshot) if snapshot.project else tr("Lend your idle time to open science")


def explanation(snapshot: Snapshot, now: float) -> str:
    """What that means, in one to three sentences; every further reason has its own line."""
    if snapshot.silence:
        return silence()
    if snapshot.state == "contributing":
        return _contribution(snapshot.progress)
    lines = [closed(sentence_with_end(reason, now)) for reason in other_reasons(snapshot)]
    if meaning := _meaning(snapshot) or main_detail(snapshot):
        lines.insert(0, meaning)
    return "\n".join(lines)


def silence() -> str:
    """What it means that the session sends no reports."""
    return tr("The figures are of that time. After minutes without news, Idlehive ends the session and tries again.")


def reachability(snapshot: Snapshot) -> str:
    """How other peers call this one; empty if it is not known."""
    return translate(_REACHABILITY[snapshot.reachability]) if snapshot.reachability else ""


def asks_for_port(snapshot: Snapshot) -> bool:
    """Whether to ask the volunteer if the router may open a port."""
    return snapshot.reachability == "outgoing" and snapshot.settings.port_mapping == "ask"


def place(known: Place | None) -> str:
    """Among all who publish what they give; empty if it is not known, or nobody else is counted."""
    if known is None or known.volunteers < 2:
        return ""
    own, everyone, share = numbers.count(known.place), numbers.count(known.volunteers), numbers.percent(known.share)
    return tr("You: place {place} of {all}, {share} of all samples", place=own, all=everyone, share=share)


def time_left(snapshot: Snapshot, now: float) -> str:
    """The time left of a pause, or of what overrides schedule and limits; empty without an end."""
    until = ends_at(snapshot)
    if until is None or until <= now:
        return ""
    if is_paused(snapshot):
        return tr("{time} left", time=numbers.duration(until - now))
    left = numbers.duration(until - now)
    if snapshot.state != "contributing":
        return ""
    if snapshot.anyway:
        return tr("{time} left, then within your limits", time=left)
    return tr("{time} left, then by the schedule", time=left) if snapshot.schedule.overridden else ""


def ends_at(snapshot: Snapshot) -> float | None:
    """When the current state ends by itself, UTC seconds."""
    if snapshot.state == "failed":
        return snapshot.retry_at
    if snapshot.state == "contributing":
        return snapshot.schedule.override_until
    reason = main_reason(snapshot)
    return reason.until if reason and snapshot.state in {"idle", "holding"} else None


def tone(snapshot: Snapshot) -> Tone:
    """The colour and icon of the state."""
    if snapshot.silence:
        return "quiet"
    if snapshot.state == "contributing":
        return "good"
    if any(reason.severity is Severity.PROBLEM for reason in snapshot.reasons):
        return "problem"
    if snapshot.state == "failed":
        return "problem" if snapshot.retry_at is None else "working"
    if is_getting_ready(snapshot):
        return "working"
    return "paused" if is_paused(snapshot) else "quiet"


def rest(snapshot: Snapshot) -> str:
    """In a word, why the batch in the ring does not move; empty while it does."""
    if snapshot.silence:
        return tr("no news")
    if snapshot.state == "contributing" or is_getting_ready(snapshot):
        return ""
    if is_paused(snapshot):
        return tr("paused")
    if snapshot.state == "failed" and snapshot.retry_at is None:
        return tr("stopped")
    return tr("waiting") if snapshot.wanted and snapshot.reasons else tr("not in a batch")


def project(snapshot: Snapshot) -> str:
    """The project's name, its id if it has none yet."""
    return snapshot.project_name or snapshot.project or tr("the practice project")


def _with_transfer(snapshot: Snapshot, plain: str, fetching: str) -> str:
    if snapshot.transfer is None:
        return plain
    return fetching.format(amount=numbers.size_of(snapshot.transfer.done, snapshot.transfer.total))


def _catching_up(snapshot: Snapshot) -> str:
    if (way := snapshot.catching_up) is None:
        return _with_transfer(snapshot, tr("Catching up with the others"), tr("Catching up: {amount}"))
    first, last = numbers.count(way.from_epoch), numbers.count(way.to_epoch)
    if (moved := snapshot.transfer) is None:
        return tr("Catching up: epoch {first} → {last}", first=first, last=last)
    amount = numbers.size_of(moved.done, moved.total)
    return tr("Catching up: epoch {first} → {last} ({amount})", first=first, last=last, amount=amount)


def _failure(snapshot: Snapshot, now: float) -> str:
    retry = _retry(snapshot, now)
    return tr("{retry}: {error}", retry=retry, error=_error(snapshot)) if retry else _error(snapshot)


def _retry(snapshot: Snapshot, now: float) -> str:
    if snapshot.retry_at is None:
        return ""
    if snapshot.retry_at <= now:
        return tr("Trying again")
    return tr("Waiting to retry in {time}", time=numbers.duration(snapshot.retry_at - now))


def _error(snapshot: Snapshot) -> str:
    return open_end(messages.sentence(snapshot.error) if snapshot.error else tr("The session ended unexpectedly"))


def _meaning(snapshot: Snapshot) -> str:
    match snapshot.state:
        case "starting" | "joining" | "syncing":
            return getting_ready()[place_in_getting_ready(snapshot)][1]
        case "leaving":
            return tr("What you have given is saved. This takes a few seconds.")
        case "failed":
            error = _error(snapshot)
            return (error if error.endswith(("?", "!")) else f"{error}.") + " " + tr("Nothing you have given is lost.")
        case "holding" if is_paused(snapshot):
            return tr("The processor is all yours, and in a few minutes the memory too.")
        case _ if is_paused(snapshot):
            return tr("Processor and memory are all yours.")
        case _ if snapshot.project is None:
            return tr("Press Contribute to try the practice project, or choose one under Projects.")
        case _ if snapshot.wanted or snapshot.reasons:
            return ""
        case _:
            return tr("Press Contribute and your computer trains with the others while you do other things.")


def _contribution(progress: Progress) -> str:
    if progress.phase != "accumulating":
        return tr("The batch is full. {meaning}", meaning=step_meaning(progress.phase))
    together = trn(
        "You are the only one filling this batch so far.",
        "{peers} peers are filling this batch together.",
        max(1, progress.peers),
        peers=numbers.count(progress.peers),
    )
    sentences = [together, _own_share(progress), _due(progress)]
    return " ".join(sentence for sentence in sentences if sentence)


def _own_share(progress: Progress) -> str:
    if not progress.target_batch_size or not progress.own_epoch_samples:
        return ""
    share = min(1.0, progress.own_epoch_samples / progress.target_batch_size)
    return tr("You gave {share} of it.", share=numbers.percent(share))


def _due(progress: Progress) -> str:
    """Empty where an estimate would be worth nothing: nobody is known to compute, or not before tomorrow."""
    missing = progress.target_batch_size - progress.epoch_samples
    if progress.swarm_samples_per_second <= 0 or missing <= 0:
        return ""
    seconds = missing / progress.swarm_samples_per_second
    return tr("The next update is due in about {time}.", time=numbers.duration(seconds)) if seconds < _A_DAY else ""

"""Projects in words, and which projects a search finds. Pure."""

from collections.abc import Sequence
from enum import Enum

from app.text import progress, reasons, status, tasks
from app.text.formats import amounts, numbers
from app.text.formats.sentences import closed
from app.text.i18n import tr
from app.text.messages import sentence
from core.api.message import Message
from core.api.project.projects import CurvePoint, ProjectDetails, ProjectInfo
from core.api.snapshot import Snapshot


class ListFilter(Enum):
    ALL = "all"
    JOINED = "joined"
    FITTING = "fitting"


def filter_name(which: ListFilter) -> str:
    return {ListFilter.ALL: tr("All"), ListFilter.JOINED: tr("Joined"), ListFilter.FITTING: tr("Fits this computer")}[
        which
    ]


def is_found(info: ProjectInfo, fits: bool | None, which: ListFilter, search: str) -> bool:
    """Every word of the search is somewhere in what the card says. `fits` is None until it is known."""
    if (which is ListFilter.JOINED and not info.joined) or (which is ListFilter.FITTING and not fits):
        return False
    text = f"{info.id} {info.name} {info.summary} {info.organiser} {info.license}".casefold()
    return all(word in text for word in search.casefold().split())


def by_line(info: ProjectInfo) -> str:
    """Who runs it, and what becomes of the result."""
    return tr("by {organiser} · result under {license}", organiser=info.organiser, license=info.license)


def badges(info: ProjectInfo, members: int, snapshot: Snapshot | None = None) -> list[tuple[str, str]]:
    """(text, role) of each; `members` is the number of joined projects."""
    found = []
    if info.practice:
        found.append((tr("For practice"), "badge"))
    if info.active and snapshot and (words := _session(snapshot)):
        found.append((words, "badge-own"))
    elif info.joined:
        found.append((tr("Joined"), "badge"))
    if info.rank and members > 1:
        found.append((tr("Choice {rank}", rank=info.rank), "badge"))
    return found


def _session(snapshot: Snapshot) -> str:
    """What the session of a project does."""
    if snapshot.silence:
        return tr("No news")
    match snapshot.state:
        case "contributing":
            return tr("Contributing now")
        case "starting" | "joining" | "syncing":
            return tr("Getting ready")
        case "holding":
            return tr("On hold")
        case _:
            return ""


def verdict(missing: Sequence[Message]) -> str:
    """Whether this computer fits, or exactly what it lacks."""
    return " ".join(map(sentence, missing)) if missing else tr("Fits this computer")


def waits(info: ProjectInfo, now: float) -> str:
    """Why another joined project runs in its place, each reason with its end; empty if none does."""
    if not info.reasons:
        return ""
    why = " ".join(closed(reasons.sentence_with_end(reason, now)) for reason in info.reasons)
    return tr("Another of your projects runs first: {why}", why=why)


def given(details: ProjectDetails) -> str:
    """What this volunteer gave, and the place among all volunteers; empty if it is nothing."""
    parts = []
    if details.samples:
        samples, time = amounts.samples(details.samples), numbers.duration(details.seconds)
        parts.append(tr("You gave {samples} in {time}", samples=samples, time=time))
    if place := status.place(details.place):
        parts.append(place)
    return " · ".join(parts)


def peers(info: ProjectInfo, curve: list[CurvePoint], snapshot: Snapshot | None, now: float) -> tuple[str, str]:
    """(figure, caption): the peers that this computer sees now, else those at the end of the last known epoch."""
    if info.active and snapshot and snapshot.progress.peers and not snapshot.silence:
        count = snapshot.progress.peers
        return numbers.count(count), tr("Peers now")
    last = next((point for point in reversed(curve) if point.peers), None)
    if last is None:
        return "–", tr("Peers")
    if not 0 < last.at <= now:
        return numbers.count(last.peers), tr("Peers at epoch {epoch}", epoch=numbers.count(last.epoch))
    return numbers.count(last.peers), tr("Peers {time} ago", time=numbers.age(now - last.at))


def reached(curve: Sequence[CurvePoint]) -> str:
    """How far the run is: its last epoch with a loss."""
    last = next((point for point in reversed(curve) if point.loss is not None), None)
    if last is None or last.loss is None:
        return tr("No epoch yet")
    return tr("Epoch {epoch}: {line}", epoch=numbers.count(last.epoch), line=progress.loss(last.loss))


def needs_line(requirements: dict[str, int]) -> str:
    wordings = {
        "memory": (tr("{amount} of memory"), numbers.size),
        "gpu_memory": (tr("{amount} of graphics memory"), numbers.size),
        "disk": (tr("{amount} of disk"), numbers.size),
        "upload": (tr("{amount} up"), numbers.rate),
        "download": (tr("{amount} down"), numbers.rate),
    }
    needs = (
        text.format(amount=unit(requirements[name]))
        for name, (text, unit) in wordings.items()
        if requirements.get(name)
    )
    return ", ".join(needs) or tr("nothing special")


def rows(details: ProjectDetails) -> list[tuple[str, str]]:
    """What a volunteer asks before joining, as names and values."""
    batch = tr("{count} samples from all peers make one epoch", count=numbers.count(details.target_batch_size))
    return [
        (tr("Model"), details.architecture),
        (tr("Task"), tasks.task(details.task)),
        (tr("Batch"), batch),
        (tr("To download"), _download(details)),
        (tr("Needs"), needs_line(details.requirements)),
        (tr("From"), tr("comes with Idlehive") if details.info.source == "builtin" else details.info.source),
    ]


def _download(details: ProjectDetails) -> str:
    first = numbers.size(details.download_size)
    if not details.hourly_download:
        return first
    return tr(
        "{first} to begin with, then up to {later} an hour", first=first, later=numbers.size(details.hourly_download)
    )


def moved(order: list[str], name: str, place: int) -> tuple[str, ...]:
    """The order with one project at another place, counted from 0."""
    rest = [each for each in order if each != name]
    place = max(0, min(place, len(rest)))
    return (*rest[:place], name, *rest[place:])

"""The steps of getting ready and of an epoch, and the ring that shows the batch, in words. Pure."""

from typing import NamedTuple, get_args

from app.text.formats import amounts, numbers
from app.text.i18n import tr
from app.text.progress import batch_share
from core.api.snapshot import Phase, Progress, Snapshot


class Step(NamedTuple):
    """One chip of the row under the sentences."""

    name: str
    meaning: str
    is_now: bool


def is_getting_ready(snapshot: Snapshot) -> bool:
    """The session is starting, joining or catching up, and says so."""
    return snapshot.state in {"starting", "joining", "syncing"} and not snapshot.silence


def steps(snapshot: Snapshot) -> tuple[Step, ...]:
    """The steps of getting ready while it lasts, else the steps of an epoch."""
    if is_getting_ready(snapshot):
        now = place_in_getting_ready(snapshot)
        return tuple(Step(*step, place == now) for place, step in enumerate(getting_ready()))
    phase = snapshot.progress.phase if snapshot.state == "contributing" and not snapshot.silence else None
    return tuple(Step(step_name(each), step_meaning(each), each == phase) for each in get_args(Phase))


def step_name(phase: Phase) -> str:
    return {
        "accumulating": tr("Accumulate"),
        "finding_group": tr("Find group"),
        "averaging": tr("Average"),
        "updating": tr("Update"),
    }[phase]


def step_meaning(phase: Phase) -> str:
    """What happens in a step, for tool tips and screen readers."""
    return {
        "accumulating": tr("All peers compute until the batch is full."),
        "finding_group": tr("The peers find a group to average with."),
        "averaging": tr("The peers average what each has learned."),
        "updating": tr("The averaged step is applied to the shared model."),
    }[phase]


def ring_line(progress: Progress) -> str:
    """The small line in the ring: how full the batch is, or the step that follows."""
    if not progress.target_batch_size:
        return tr("no batch yet")
    if progress.phase != "accumulating":
        return {
            "finding_group": tr("finding a group"),
            "averaging": tr("averaging"),
            "updating": tr("updating"),
        }[progress.phase]
    return tr(
        "{share} of {target}",
        share=numbers.percent(batch_share(progress)),
        target=numbers.count(progress.target_batch_size),
    )


def ring_meaning(progress: Progress) -> str:
    """The ring for screen readers."""
    own = progress.own_epoch_samples
    return tr(
        "Epoch {epoch}: {line}. You gave {own}, the others {others}.",
        epoch=numbers.count(progress.epoch),
        line=ring_line(progress),
        own=amounts.samples(own),
        others=numbers.count(max(0, progress.epoch_samples - own)),
    )


def getting_ready() -> tuple[tuple[str, str], ...]:
    """Name and meaning of each step."""
    return (
        (tr("Start"), tr("The training program starts. This takes some seconds, longer on a busy computer.")),
        (tr("Load"), tr("Data and tokenizer are fetched once, checked and kept for the next time.")),
        (tr("Find peers"), tr("This computer meets the others that train the same model.")),
        (tr("Catch up"), tr("The others send the newest model, so that you start where they are.")),
    )


def waited(seconds: float) -> str:
    """How long this step of getting ready has taken."""
    return tr("{time} so far", time=numbers.duration(max(0.0, seconds)))


def place_in_getting_ready(snapshot: Snapshot) -> int:
    if snapshot.state == "starting":
        # A training program with a known process has started, and loads.
        return 0 if snapshot.session is None and snapshot.transfer is None else 1
    return 2 if snapshot.state == "joining" else 3

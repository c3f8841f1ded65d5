"""The backbone's page for people: the project, the run's progress, who contributed how much, and how to join."""

import re
from collections.abc import Sequence

from core.host.contributions.store import Presence
from core.host.curve import Point
from core.host.web import charts, ranking
from core.host.web.charts import Chart, Line, chart
from core.host.web.published import PublishedRun
from core.host.web.templates import fill_in
from core.swarm.trust.distrust import Offence

_DOES = {
    "continued_text": "In brackets: how it continues a text.",
    "filled_masks": "In brackets: the words that it puts where some are masked, and after ≠ the right ones.",
    "drawn_pictures": "Pictures that it draws for this caption.",
    "nearest_pictures": "In each row a picture, and beside it those that are the most similar to the model.",
}

_LEFT_OUT: dict[Offence, str] = {
    "values_out_of_range": "It sent values that are not finite or far too large.",
    "part_malformed": "It sent a part that does not fit.",
    "parts_too_many": "It sent more parts than there are.",
    "weight_invalid": "It sent a weight that is not possible.",
    "average_wrong": "It gave a wrong average.",
    "claim_malformed": "What it said about itself cannot be read.",
    "fell_silent": "It joined rounds and stopped answering in them.",
    "gradient_wrong": "What it sent is not what its samples give.",
    "banned_by_organiser": "The organiser has banned it.",
    "accused_by_others": "Others found that what it sent is not what its samples give.",
}


def render(published: PublishedRun, host: str) -> bytes:
    """The page as HTML. `host` is the visitor's name for this server, for the command to join."""
    points, presence = published.curve.points(), ranking.presence(published)
    volunteers, _samples = published.store.totals()
    return fill_in(
        "page.html",
        manifest=published.manifest,
        status=published.status,
        leaders=published.store.leaders(),
        label=ranking.LABEL,
        volunteers=volunteers,
        points=points,
        presence=presence,
        losses=_losses(points),
        peers=_peers(presence),
        demonstration=published.curve.demonstration,
        does=_DOES,
        why=_LEFT_OUT,
        measured=next((point for point in reversed(points) if point.figure is not None), None),
        width=charts.WIDTH,
        height=charts.HEIGHT,
        margin=charts.MARGIN,
        address=f"http://{host}" if re.fullmatch(r"[A-Za-z0-9.:\[\]-]{1,255}", host) else "http://ADDRESS",
    )


def _losses(points: Sequence[Point]) -> Chart:
    reported = [(point.epoch, point.loss) for point in points if point.loss is not None]
    measured = [(point.epoch, point.evaluation_loss) for point in points if point.evaluation_loss is not None]
    return chart(Line("training loss", "first", reported), Line("evaluation loss", "second", measured))


def _peers(presence: Sequence[Presence]) -> Chart:
    return chart(Line("peers at work", "first", [(each.at, each.peers) for each in presence]), from_zero=True)

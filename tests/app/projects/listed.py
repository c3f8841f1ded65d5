"""The projects that a scripted engine lists, and what their cards show."""

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from app.projects.card import ProjectCard
from app.projects.page import ProjectsPage
from app.widgets.basic import Label
from core.api.message import Message
from core.api.project.projects import ProjectDetails, ProjectInfo

PRACTICE = ProjectInfo("practice", "Practice", "A tiny model.", "Idlehive", "CC0-1.0", "builtin", practice=True)
LACK = "It needs a graphics card with 6.0\N{NO-BREAK SPACE}GB of memory; none was found here."
BIRDS = ProjectInfo("birds", "Birdsong", "Voices of birds.", "Ornithologists", "MIT", "https://example.org/p.json")
DETAILS = ProjectDetails(
    BIRDS,
    "BertForMaskedLM",
    "masked_language_modelling",
    4096,
    310_000_000,
    {"memory": 4_000_000_000, "upload": 250_000},
    missing=(Message("needs_gpu", {"needed": 6_000_000_000}),),
)


def card(page: ProjectsPage, which: str = "birds") -> ProjectCard:
    found = page.card(which)
    assert found
    return found


def texts(page: QWidget) -> str:
    return "\n".join(label.text() for label in page.findChildren(Label) if label.isVisible())


def in_order(*infos: ProjectInfo) -> list[ProjectInfo]:
    """Joined, in the order of preference."""
    return [replace(info, joined=True, rank=rank) for rank, info in enumerate(infos, 1)]

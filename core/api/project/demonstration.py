"""What a run's model can do by now: one example, which its backbone makes after each evaluation and serves as JSON."""

from typing import Annotated

import msgspec
from msgspec import Meta

from core.api.project.projects import Figure

LARGEST = 512 << 10
"""Bytes as JSON."""
LARGEST_PICTURE = 256 << 10
"""Bytes of a PNG."""

_Words = Annotated[str, Meta(max_length=2000)]


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """Consecutive words of a text."""

    text: _Words
    is_made: bool = False
    """Whether the model wrote it; otherwise it was given to the model."""
    right: _Words | None = None
    """What should be in its place, where that is something else."""


class Demonstration(msgspec.Struct, frozen=True, omit_defaults=True):
    """`kind` says what the model does: `continued_text`, `filled_masks`, `nearest_pictures` or `drawn_pictures`."""

    kind: Annotated[str, Meta(min_length=1, max_length=64)]
    spans: Annotated[tuple[Span, ...], Meta(max_length=100)] = ()
    picture: Annotated[bytes, Meta(max_length=LARGEST_PICTURE)] | None = None
    """PNG."""
    epoch: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    """Of the parameters."""
    figure: Figure | None = None
    """The task's measure, of the same parameters."""


class GetDemonstration(msgspec.Struct, frozen=True, tag=True):
    """Reply: Demonstration, or null if the project has none that can be read."""

    project: str

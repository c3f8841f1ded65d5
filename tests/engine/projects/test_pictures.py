"""Projects' pictures: fetched by the engine, bounded, checked and kept."""

import hashlib
import struct
from pathlib import Path

import pytest

from core.api.errors import UsageError
from core.api.project.projects import AddProject, GetPicture, Picture, ProjectInfo
from core.engine.projects.pictures import LARGEST, MOST_PIXELS, picture_of
from tests.engine.projects.test_catalogue import Organiser, organiser
from tests.fakes.running_engine import RunningEngine

__all__ = ["organiser"]


def png(width: int = 64, height: int = 48) -> bytes:
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height) + b"\x08\x02\x00\x00\x00"


def jpeg(width: int = 64, height: int = 48) -> bytes:
    frame = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03\x01\x22\x00"
    return b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00" + frame


def described(organiser: Organiser, data: bytes, **changes: object) -> str:
    organiser.pages["picture"] = data
    file = {"url": "picture", "sha256": hashlib.sha256(data).hexdigest(), "size": len(data), **changes}
    return organiser.publish(picture=file)


def shown(engine: RunningEngine, source: str) -> Picture | None:
    engine.start().ask(AddProject(source), ProjectInfo)
    return engine.ask(GetPicture("poems"), Picture | None)  # type: ignore[arg-type]


def test_png_and_jpeg_are_known_by_what_they_are() -> None:
    assert picture_of(png()).format == "png"
    assert picture_of(jpeg()).format == "jpeg"


@pytest.mark.parametrize(
    "data",
    [b"", b"<svg/>", b"GIF89a", png()[:20], jpeg()[:10], b"\xff\xd8" + b"\xff\xe0\x00\x00" * 9],
    ids=["nothing", "svg", "gif", "half a png", "half a jpeg", "a jpeg without a frame"],
)
def test_anything_else_is_no_picture(data: bytes) -> None:
    with pytest.raises(UsageError):
        picture_of(data)


@pytest.mark.parametrize("data", [png(MOST_PIXELS + 1), png(1, 1 << 31), jpeg(60_000, 60_000), png(0)])
def test_a_small_file_that_would_unpack_to_a_huge_picture_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError):
        picture_of(data)


def test_a_picture_is_fetched_once_and_kept(engine: RunningEngine, organiser: Organiser) -> None:
    assert shown(engine, described(organiser, png())) == Picture("png", png())
    del organiser.pages["picture"]
    assert engine.ask(GetPicture("poems"), Picture) == Picture("png", png())
    assert [path.name for path in Path(engine.home.path / "pictures").iterdir()] == [hashlib.sha256(png()).hexdigest()]


def test_a_picture_that_is_not_the_one_described_is_not_shown(engine: RunningEngine, organiser: Organiser) -> None:
    assert shown(engine, described(organiser, png(), sha256="0" * 64)) is None


def test_a_picture_that_is_too_large_is_not_even_fetched(engine: RunningEngine, organiser: Organiser) -> None:
    assert shown(engine, described(organiser, png(), size=LARGEST + 1)) is None


def test_a_project_without_a_picture_has_none(engine: RunningEngine, organiser: Organiser) -> None:
    assert shown(engine, organiser.publish()) is None

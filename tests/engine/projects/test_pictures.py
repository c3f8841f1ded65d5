"""Projects' pictures: fetched by the engine, bounded and kept."""

import hashlib
from pathlib import Path

import pytest

from core.api.errors import UsageError
from core.api.project.projects import AddProject, GetPicture, Picture, ProjectInfo
from core.engine.projects.pictures import LARGEST, picture_of
from tests.engine.projects.organiser import Organiser
from tests.fakes.running_engine import RunningEngine

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR and so on"
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF and so on"


def described(organiser: Organiser, data: bytes, **changes: object) -> str:
    organiser.pages["picture"] = data
    file = {"url": "picture", "sha256": hashlib.sha256(data).hexdigest(), "size": len(data), **changes}
    return organiser.publish(picture=file)


def shown(engine: RunningEngine, source: str) -> Picture | None:
    engine.start().ask(AddProject(source), ProjectInfo)
    return engine.ask(GetPicture("poems"), Picture | None)  # type: ignore[arg-type]


def test_png_and_jpeg_are_known_by_what_they_are() -> None:
    assert picture_of(PNG).format == "png"
    assert picture_of(JPEG).format == "jpeg"


@pytest.mark.parametrize(
    "data",
    [b"", b"<svg/>", b"GIF89a", PNG[:7], JPEG[:2]],
    ids=["nothing", "svg", "gif", "half of what a png begins with", "half of what a jpeg begins with"],
)
def test_anything_else_is_no_picture(data: bytes) -> None:
    with pytest.raises(UsageError):
        picture_of(data)


def test_a_picture_is_fetched_once_and_kept(engine: RunningEngine, organiser: Organiser) -> None:
    assert shown(engine, described(organiser, PNG)) == Picture("png", PNG)
    del organiser.pages["picture"]
    assert engine.ask(GetPicture("poems"), Picture) == Picture("png", PNG)
    assert [path.name for path in Path(engine.home.path / "pictures").iterdir()] == [hashlib.sha256(PNG).hexdigest()]


def test_a_picture_that_is_not_the_one_described_is_not_shown(engine: RunningEngine, organiser: Organiser) -> None:
    assert shown(engine, described(organiser, PNG, sha256="0" * 64)) is None


def test_a_picture_that_is_too_large_is_not_even_fetched(engine: RunningEngine, organiser: Organiser) -> None:
    assert shown(engine, described(organiser, PNG, size=LARGEST + 1)) is None


def test_a_project_without_a_picture_has_none(engine: RunningEngine, organiser: Organiser) -> None:
    assert shown(engine, organiser.publish()) is None

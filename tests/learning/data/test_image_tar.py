"""Pictures in tar shards: what is read, and what is left out."""

import io
import tarfile
from pathlib import Path

import pytest
from PIL import Image

from core.api.errors import WorldError
from core.api.project.data import ImageTarData
from core.api.project.fields import File
from core.learning.data import source_for
from core.learning.data.image_tar import Picture
from core.learning.data.source import once, stream

SOURCE = source_for(ImageTarData((File("a", "0" * 64, 1),)))


def encoded(kind: str, size: tuple[int, int] = (6, 4), mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, size).save(file, kind)
    return file.getvalue()


def shard(folder: Path, files: list[tuple[str, bytes]]) -> Path:
    path = folder / "shard.tar"
    with tarfile.open(path, "w") as archive:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_pictures_of_all_formats_are_read_with_their_labels(tmp_path: Path) -> None:
    files = [("a/1.png", encoded("PNG")), ("a/1.cls", b"7\n"), ("2.JPG", encoded("JPEG")), ("3.webp", encoded("WEBP"))]
    pictures = list(once(SOURCE, shard(tmp_path, [*files, ("3.cls", b"9")])))
    assert [picture.label for picture in pictures] == [7, None, 9]
    for picture in pictures:
        pixels = picture.decoded()
        assert pixels is not None
        assert pixels.shape == (3, 4, 6)


def test_grey_and_transparent_pictures_get_three_colours(tmp_path: Path) -> None:
    path = shard(tmp_path, [("1.png", encoded("PNG", mode="L")), ("2.png", encoded("PNG", mode="RGBA"))])
    for picture in once(SOURCE, path):
        pixels = picture.decoded()
        assert pixels is not None
        assert pixels.shape == (3, 4, 6)


def test_other_files_labels_without_a_picture_and_links_are_left_out(tmp_path: Path) -> None:
    path = shard(tmp_path, [("readme.txt", b"text"), ("1.cls", b"3"), ("x.png", encoded("PNG")), ("y.cls", b"4")])
    with tarfile.open(path, "a") as archive:
        link = tarfile.TarInfo("link.png")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert [picture.label for picture in once(SOURCE, path)] == [None]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "PNG"),
        (encoded("PNG")[:40], "PNG"),
        (encoded("JPEG"), "PNG"),  # not what its name says
        (encoded("GIF"), "PNG"),
        (encoded("PNG", (6000, 6000), "1"), "PNG"),  # 36 million pixels in 5 kB
    ],
)
def test_what_cannot_be_decoded_safely_is_no_picture(content: bytes, kind: str) -> None:
    assert Picture(content, kind, None).decoded() is None


def test_a_file_that_is_no_tar_is_an_error_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "shard.tar"
    path.write_bytes(b"x" * 2000)
    with pytest.raises(WorldError, match=r"shard_not_readable .*shard\.tar"):
        list(once(SOURCE, path))


def test_every_pass_has_every_picture(tmp_path: Path) -> None:
    path = shard(tmp_path, [(f"{number}.png", encoded("PNG", (number + 1, 1))) for number in range(5)])
    samples = stream(SOURCE, [path], seed=0)
    for _ in range(2):
        widths = {pixels.shape[2] for _ in range(5) if (pixels := next(samples).decoded()) is not None}
        assert widths == {1, 2, 3, 4, 5}

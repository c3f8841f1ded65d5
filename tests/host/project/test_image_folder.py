"""Folders of pictures: one class a folder, or none."""

import os
import tarfile
from pathlib import Path

import pytest

from core.api.errors import UsageError
from core.api.project.data import ImageTarData
from core.host.project import load
from core.host.project.image_folder import packed
from core.learning.data import source_for
from core.learning.data.source import once
from tests.host.published_projects import PROJECTS
from tests.learning.data.test_image_tar import encoded


def folder_of(base: Path, *names: str) -> Path:
    folder = base / "pictures"
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded("PNG", (number + 1, 1)))
    return folder


def read(shards: list[Path]) -> dict[int, int | None]:
    """Labels by the width of the picture."""
    source = source_for(ImageTarData(()))
    found = {}
    for picture in (picture for shard in shards for picture in once(source, shard)):
        pixels = picture.decoded()
        assert pixels is not None
        found[pixels.shape[2]] = picture.label
    return found


def test_each_folder_is_a_class(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "cat/1.png", "cat/old/1.png", "ant/1.png", "none.png", "readme.txt")
    assert read(packed(folder)) == {1: 1, 2: 1, 3: 0, 4: None}


def test_a_flat_folder_has_no_labels(tmp_path: Path) -> None:
    assert read(packed(folder_of(tmp_path, "1.png", "2.png"))) == {1: None, 2: None}


def test_the_same_pictures_give_the_same_bytes_elsewhere(tmp_path: Path) -> None:
    names = [f"{kind}/{number}.png" for kind in "ab" for number in range(20)]
    shards = [packed(folder_of(tmp_path / place, *names)) for place in ("one", "two")]
    for one, two in zip(*shards, strict=True):
        assert (one.name, one.read_bytes()) == (two.name, two.read_bytes())


def test_every_shard_is_mixed_and_of_limited_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.host.project.image_folder._SHARD", 700)
    names = [f"{kind}/{number}.png" for kind in "ab" for number in range(20)]
    folder = folder_of(tmp_path, *names)
    shards = packed(folder)
    labels = [set(read([shard]).values()) for shard in shards]
    assert len(shards) > 3
    assert labels.count({0, 1}) >= len(labels) - 1
    assert len(read(shards)) == 40


def test_they_are_packed_again_only_after_a_change(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "1.png")
    first = packed(folder)[0]
    os.utime(first, (1, 1))
    assert packed(folder) == [first]
    assert first.stat().st_mtime == 1
    folder_of(tmp_path, "1.png", "2.png")
    second = packed(folder)[0]
    assert read([second]) == {1: None, 2: None}
    assert not first.exists()


def test_what_somebody_else_keeps_beside_the_shards_stays(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "1.png")
    keep = tmp_path / "pictures.shards"
    (keep / "originals").mkdir(parents=True)
    (keep / "originals" / "1.png").write_bytes(b"mine")
    (keep / "notes.txt").write_text("mine")
    (keep / ("a" * 16)).write_text("mine")
    first = packed(folder)[0].parent
    folder_of(tmp_path, "1.png", "2.png")
    second = packed(folder)[0].parent
    assert {path.name for path in keep.iterdir()} == {"originals", "notes.txt", "a" * 16, second.name}
    assert (keep / "originals" / "1.png").read_bytes() == b"mine"
    assert first != second


def test_links_and_what_nobody_would_read_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    private = folder_of(tmp_path / "private", "a.png", "b.png")
    folder = folder_of(tmp_path, "c/1.png", "c/2.png", "c/large.png")
    with (folder / "c" / "large.png").open("ab") as file:
        file.write(bytes(10_000))
    (folder / "link.png").symlink_to(private / "a.png")
    (folder / "place").symlink_to(private)
    monkeypatch.setattr(ImageTarData, "largest", 10_000)
    shards = packed(folder)
    assert read(shards) == {1: 0, 2: 0}
    with tarfile.open(shards[0]) as archive:
        assert {Path(name).suffix for name in archive.getnames()} == {".png", ".cls"}
        assert {Path(name).stem for name in archive.getnames()} == {"1", "2"}
    assert caplog.messages == [
        f"picture_too_large path={folder / 'c/large.png'} largest=10000",
        f"picture_elsewhere path={folder / 'link.png'}",
    ]


def test_a_folder_of_shards_can_become_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.host.project.image_folder._SHARD", 100)
    folder = folder_of(tmp_path, *(f"{number}.png" for number in range(20)))
    shards = packed(folder)
    [whole] = packed(folder, together=True)
    assert len(shards) > 3
    assert len(read([whole])) == 20
    assert packed(folder) == shards
    assert len(read(shards)) == 20


def project(base: Path, shards: str) -> Path:
    text = (PROJECTS / "textures" / "project.toml").read_text()
    path = base / "project.toml"
    path.write_text(text.replace('["train-*.tar"]', shards).replace('"held-out.tar"', '"held-out"'))
    folder_of(base / "held", "a/1.png", "b/2.png")
    (base / "held" / "pictures").rename(base / "held-out")
    return path


@pytest.mark.parametrize("shards", ['["pictures"]', '["pictur*s"]'])
def test_a_project_may_name_folders(tmp_path: Path, shards: str) -> None:
    folder_of(tmp_path, "a/1.png", "b/2.png", "b/3.png")
    loaded = load(project(tmp_path, shards))
    data = loaded.template.data
    assert isinstance(data, ImageTarData)
    assert data.held_out is not None
    assert read([loaded.path_of(shard) for shard in data.shards]) == {1: 0, 2: 1, 3: 1}
    assert read([loaded.path_of(data.held_out)]) == {1: 0, 2: 1}


def test_a_folder_of_held_out_pictures_may_be_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    folder_of(here, "a/1.png", "b/2.png", "b/3.png")
    path = project(here, '["pictures"]')
    (here / "held-out").rename(tmp_path / "elsewhere")
    text = path.read_text()
    monkeypatch.chdir(tmp_path)
    for name in (str(tmp_path / "elsewhere"), "../elsewhere"):
        path.write_text(text.replace('"held-out"', f'"{name}"'))
        loaded = load(Path("here/project.toml"))
        assert isinstance(loaded.template.data, ImageTarData)
        assert loaded.template.data.held_out is not None
        assert read([loaded.path_of(loaded.template.data.held_out)]) == {1: 0, 2: 1}


def test_a_folder_without_pictures_is_named(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    with pytest.raises(UsageError, match=r"field=data\.shards\[0\] .*file_empty path=pictures"):
        load(project(tmp_path, '["pictures"]'))

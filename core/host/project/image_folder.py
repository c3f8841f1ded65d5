"""Packs an organiser's folder of pictures into tar shards: many small files would need a request each.

The same pictures always give the same bytes, so what volunteers have stays right.
"""

import hashlib
import io
import logging
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from core.api.message import Message
from core.api.project.data import ImageTarData

log = logging.getLogger(__name__)

_SHARD = 64 << 20
"""Bytes of pictures in a shard."""


def packed(folder: Path, *, together: bool = False) -> list[Path]:
    """The shards of a folder, as WebDataset packs them, or one file `together`. Both are kept beside the folder.

    Each folder in it is a class, whose number is its place in the order of names; pictures outside of these have no
    label. All shards are as mixed as the whole. Without pictures there are none.

    Raises:
        OSError: pictures cannot be read, or shards not be written.
    """
    pictures = _pictures(folder)
    keep = folder.with_name(f"{folder.name}.{'whole' if together else 'shards'}")
    whole = keep / _digest(folder, pictures)
    if pictures and not whole.exists():
        keep.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=keep) as part:
            made = Path(part) / "whole"
            made.mkdir()
            _write(folder, pictures, made, together)
            made.rename(whole)
        for old in keep.iterdir():
            # Nothing else: the organiser may keep other files in a folder of this name.
            if old != whole and re.fullmatch("[0-9a-f]{16}", old.name) and old.is_dir() and not old.is_symlink():
                shutil.rmtree(old)
    return sorted(whole.glob("*.tar"))


def _pictures(folder: Path) -> list[Path]:
    """Those that can be published: links may lead to files that nobody means to publish."""
    found, inside = list[Path](), folder.resolve()
    for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in ImageTarData.formats):
        if path.is_symlink() or not path.is_file() or not path.resolve().is_relative_to(inside):
            log.warning("%s", Message("picture_elsewhere", {"path": str(path)}))
        elif path.stat().st_size > ImageTarData.largest:
            log.warning("%s", Message("picture_too_large", {"path": str(path), "largest": ImageTarData.largest}))
        else:
            found.append(path)
    return found


def _digest(folder: Path, pictures: Sequence[Path]) -> str:
    """Changes with the name, size or time of any picture."""
    facts = ((path.relative_to(folder), path.stat()) for path in pictures)
    lines = [f"{name} {status.st_size} {status.st_mtime_ns}\n" for name, status in facts]
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()[:16]


def _write(folder: Path, pictures: Sequence[Path], target: Path, together: bool) -> None:
    classes = sorted({path.relative_to(folder).parts[0] for path in pictures if path.parent != folder})
    mixed = list(pictures)
    Random(len(mixed)).shuffle(mixed)
    for number, shard in enumerate([mixed] if together else _shards(mixed)):
        with tarfile.open(target / f"{folder.name}-{number:05}.tar", "w") as archive:
            for path in shard:
                name = path.relative_to(folder)
                _add(archive, str(name), path.read_bytes())
                if path.parent != folder:
                    _add(archive, str(name.with_suffix(".cls")), str(classes.index(name.parts[0])).encode())


def _shards(pictures: Sequence[Path]) -> Iterator[list[Path]]:
    shard, size = list[Path](), 0
    for path in pictures:
        shard.append(path)
        size += path.stat().st_size
        if size >= _SHARD:
            yield shard
            shard, size = [], 0
    if shard:
        yield shard


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """With neither time nor owner."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))

"""The local files that a `project.toml` names: found, packed, checked and hashed, so that they can be served."""

import base64
import codecs
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from core.api.errors import ManifestError, detail_of
from core.host.project.image_folder import packed

_CHUNK = 1 << 20
_MOST_PIXELS = 1 << 25
"""Of a codebook: a few bytes can stand for very many."""


@dataclass(frozen=True)
class ServedFile:
    """A local file as it is served. `size` (bytes) and `changed` (nanoseconds) show whether it is still the same."""

    path: Path
    sha256: str
    size: int
    changed: int

    @property
    def name(self) -> str:
        """Name in URLs: unique by content, and safe whatever the local name is."""
        return f"{self.sha256[:16]}-{re.sub('[^A-Za-z0-9._-]', '_', self.path.name)[-100:]}"


def publish(table: dict[str, Any], folder: Path) -> list[ServedFile]:
    """Put the manifest's File entries in place of the local paths of a table, and return the files.

    Raises:
        ManifestError: one is missing or cannot be served; names the field.
    """
    published = []

    def replace(holder: dict[str, Any], key: str, field: str, text: bool) -> None:
        file = _published(_local(holder[key], folder, field), field, text)
        published.append(file)
        holder[key] = _entry(file)

    if "tokenizer" in table:
        replace(table, "tokenizer", "$.tokenizer", text=True)
    if "picture" in table:
        replace(table, "picture", "$.picture", text=False)
    _include_codebook(table.get("task"), folder)
    collections = list(_collections(table.get("data"), "$.data"))
    for data, field in collections:
        if "held_out" in data:
            _pack_held_out(data, folder, f"{field}.held_out")
            replace(data, "held_out", f"{field}.held_out", text=is_text(data))
    held_out = {file.sha256 for file in published}
    for data, field in collections:
        entries = list[dict[str, Any]]()
        for shard, place in _shards(data, folder, f"{field}.shards"):
            if isinstance(shard, dict):
                # Elsewhere: the table of a file, as the manifest has it.
                entries.append(shard)
                continue
            own = _published(shard, place, text=is_text(data))
            if own.sha256 in held_out:
                raise ManifestError("shard_is_held_out", f"{field}.shards", path=own.path.name)
            entries.append(_entry(own))
            published.append(own)
        data["shards"] = entries
    return published


def _include_codebook(task: object, folder: Path) -> None:
    """Put a task's codebook in place of its path: it is small, and part of the manifest."""
    if isinstance(task, dict) and "codebook" in task:
        path, field = _local(task["codebook"], folder, "$.task.codebook"), "$.task.codebook"
        try:
            content = path.read_bytes()
            _check_png(content)
        except (OSError, SyntaxError, ValueError) as error:
            raise ManifestError("file_unreadable", field, path=str(path), detail=detail_of(error)) from None
        task["codebook"] = base64.b64encode(content).decode()


def _check_png(content: bytes) -> None:
    """Unpack a picture, unless it is too large.

    Raises:
        OSError, SyntaxError, ValueError: it cannot be unpacked.
    """
    from PIL import Image  # with its codecs, only where there are pictures

    try:
        with Image.open(BytesIO(content), formats=("PNG",)) as image:
            if image.width * image.height <= _MOST_PIXELS:
                image.load()
                return
            detail = f"{image.width} × {image.height} pixels"
    except Image.DecompressionBombError as error:
        detail = str(error)
    raise ValueError(detail)


def _collections(data: object, field: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Every table with shards: the data, or those of the parts of a mixture. What is wrong is refused later."""
    if not isinstance(data, dict):
        return
    if "shards" in data:
        yield data, field
    parts = data.get("parts")
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        if isinstance(part, dict):
            yield from _collections(part.get("data"), f"{field}.parts[{index}].data")


def is_text(data: dict[str, Any]) -> bool:
    """Whether the files of a table with shards are read as they are, line by line."""
    return (
        data.get("type", "text") in {"text", "json_lines", "captioned_codes"}
        and data.get("compression", "none") == "none"
    )


def _entry(file: ServedFile) -> dict[str, Any]:
    return {"url": f"data/{file.name}", "sha256": file.sha256, "size": file.size}


def _shards(data: dict[str, Any], folder: Path, place: str) -> Iterator[tuple[Path | dict[str, Any], str]]:
    for shard, field in _found(data["shards"], folder, place):
        if isinstance(shard, Path) and _is_image_folder(data, shard):
            yield from ((file, field) for file in _packed(shard, field))
        else:
            yield shard, field


def _pack_held_out(data: dict[str, Any], folder: Path, field: str) -> None:
    path = _local(data["held_out"], folder, field)
    if _is_image_folder(data, path):
        data["held_out"] = str(_packed(path, field, together=True)[0].absolute())


def _is_image_folder(data: dict[str, Any], path: Path) -> bool:
    return data.get("type") == "image_tar" and path.is_dir()


def _packed(path: Path, field: str, *, together: bool = False) -> list[Path]:
    try:
        shards = packed(path, together=together)
    except OSError as error:
        raise ManifestError("file_unreadable", field, path=str(path), detail=detail_of(error)) from None
    if not shards:
        raise ManifestError("file_empty", field, path=path.name)
    return shards


def _found(patterns: object, folder: Path, place: str) -> Iterator[tuple[Path | dict[str, Any], str]]:
    if not isinstance(patterns, list):
        raise ManifestError("shards_not_a_list", place)
    for index, pattern in enumerate(patterns):
        field = f"{place}[{index}]"
        if isinstance(pattern, dict):
            yield pattern, field
            continue
        if not isinstance(pattern, str) or not re.search(r"[*?\[]", pattern):
            yield _local(pattern, folder, field), field
            continue
        try:
            found = sorted(folder.glob(pattern))
        except (ValueError, NotImplementedError):
            raise ManifestError("pattern_not_relative", field) from None
        if not found:
            raise ManifestError("pattern_without_match", field, pattern=pattern)
        yield from ((file, field) for file in found)


def _local(name: object, folder: Path, field: str) -> Path:
    if not isinstance(name, str) or not name:
        raise ManifestError("path_expected", field)
    return folder / name


def _published(path: Path, field: str, text: bool) -> ServedFile:
    """Hash the file in one pass; a text is checked to be UTF-8, which a volunteer's trainer would stumble over."""
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                if text:
                    decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise ManifestError("file_not_unicode", field, path=path.name) from None
    except OSError as error:
        raise ManifestError("file_unreadable", field, path=str(path), detail=detail_of(error)) from None
    if not status.st_size:
        raise ManifestError("file_empty", field, path=path.name)
    return ServedFile(path.resolve(), digest.hexdigest(), status.st_size, status.st_mtime_ns)

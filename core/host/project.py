"""An organiser's `project.toml`: the manifest's fields, with local files where the manifest has URLs.

From it come the manifest that volunteers read and the files that the backbone serves. `docs/hosting.md` explains it.
"""

import base64
import codecs
import hashlib
import os
import re
import secrets
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from core.api.errors import ManifestError, UsageError, WorldError
from core.api.project import manifest_reading
from core.api.project.data import Mixture
from core.api.project.fields import File, Positive
from core.api.project.manifest import Manifest
from core.api.project.peer_address import is_peer_address
from core.api.project.plain_json import check as check_plain
from core.host.image_folder import packed
from core.system.atomic_file import write_atomically

_CHUNK = 1 << 20
_ROOM_FOR_PEERS = 64 << 10
_MOST_PIXELS = 1 << 25
"""Of a codebook: a few bytes can stand for very many."""


class Host(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[host]`: how this backbone works; nothing of it is published but `extra_peers`."""

    checkpoint_every: Positive = 10
    """Epochs."""
    evaluate_every: Positive = 1
    """Epochs."""
    keep_checkpoints: Positive = 3
    """The newest ones that stay."""
    keep_every: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    """Checkpoints of epochs that this number divides stay for good; 0 keeps none."""
    state: str | None = None
    """Folder of checkpoints, identity and learning curve, from the TOML's own; the command line overrides it."""
    extra_peers: Annotated[tuple[str, ...], Meta(max_length=32)] = ()
    """Multiaddresses of the project's other backbones."""
    averaging: bool = True
    """Take part in each averaging round without samples: peers that only call others need one that can be called."""
    largest_group: Annotated[int, Meta(ge=2, le=1024)] = 64
    """Members of a group that this backbone leads, itself among them."""
    validation: bool = True
    """Compute what trainers bring to the rounds again, one after the other, and ban those that bring something else."""
    upload_limit: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    """Bytes per second that averaging and giving the state may send; 0 is no ceiling. The web server is not counted."""
    download_limit: Annotated[int, Meta(ge=0, le=1 << 53)] = 0
    """Bytes per second that averaging and fetching the state may receive; 0 is no ceiling."""


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


@dataclass(frozen=True)
class Project:
    """A `project.toml` that was read and whose files are there."""

    path: Path
    template: Manifest
    """With URLs relative to the manifest; run_id and initial peers come from the running backbone."""
    host: Host
    files: Mapping[str, ServedFile]
    """By name in URLs: what is served under `data/`."""
    own_run_id: bool
    """The TOML names no run_id, so the state folder decides."""

    def manifest(self, state: Path, peers: Sequence[str]) -> Manifest:
        """The manifest of the run kept in `state`, whose backbone is reached at `peers` (multiaddresses).

        Raises:
            WorldError: the state folder cannot be used.
        """
        run_id = run_id_of(self.template.id, state) if self.own_run_id else self.template.run_id
        every_peer = tuple(dict.fromkeys((*peers, *self.host.extra_peers)))
        return msgspec.structs.replace(self.template, run_id=run_id, initial_peers=every_peer)

    def path_of(self, file: File) -> Path:
        """The organiser's own copy of a file of the manifest."""
        return next(own.path for own in self.files.values() if own.sha256 == file.sha256)

    def state(self) -> Path:
        """Where this backbone keeps its state unless the command line says otherwise."""
        return self.path.parent / (self.host.state or f"{self.template.id}-state")


def load(path: Path) -> Project:
    """Read `path`, and size and hash of every file it names.

    Raises:
        UsageError: the file is missing or wrong; names the field.
    """
    table = _table(path)
    try:
        check_plain(table)
        host = _host(table.pop("host", {}))
        files = _publish(table, path.parent)
        template = _template(table, host)
        _check_content(template, files)
    except ManifestError as error:
        raise _wrong(path, error) from None
    return Project(path, template, host, {file.name: file for file in files}, "run_id" not in table)


def run_id_of(project: str, state: Path) -> str:
    """The run kept in the folder `state`, named on first use, so that two backbones never mix their runs by accident.

    Raises:
        WorldError: the folder cannot be used.
    """
    file = state / "run_id"
    try:
        if not file.exists():
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(file, f"{project[:55]}-{secrets.token_hex(4)}\n".encode())
        run_id = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise WorldError("state_folder_unusable", path=str(state), detail=why or str(error)) from None
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", run_id):
        raise WorldError("run_id_missing", path=str(file))
    return run_id


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError("file_unreadable", path=str(path), detail=error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise UsageError("file_not_unicode", path=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError("file_not_toml", path=str(path), detail=str(error)) from None


def _template(plain: dict[str, Any], host: Host) -> Manifest:
    if "initial_peers" in plain:
        raise ManifestError("initial_peers_given", "initial_peers")
    served = {name: f"{name}.json" for name in ("curve", "leaderboard", "demonstration")}
    template = manifest_reading.check({"run_id": "none", **served, **plain, "initial_peers": []})
    if len(msgspec.json.encode(template)) > manifest_reading.LARGEST - _ROOM_FOR_PEERS:
        raise ManifestError("shards_too_many", "data.shards")
    if host.validation and not template.task.is_reproducible:
        raise ManifestError("work_not_reproducible", "$.host.validation")
    return template


def _check_content(template: Manifest, files: Sequence[ServedFile]) -> None:
    """What volunteers' trainers would stumble over: files that cannot be unpacked, and Parquet without the column."""
    whole, own = template.data, {file.sha256: file.path for file in files}
    for kind in [part.data for part in whole.parts] if isinstance(whole, Mixture) else [whole]:
        if _is_text({"type": kind.__struct_config__.tag, "compression": getattr(kind, "compression", "none")}):
            continue
        from core.learning.data import source_for  # with torch, which the engine must not load

        for file in (*kind.shards, *filter(None, (kind.held_out,))):
            if file.sha256 in own:
                source_for(kind).check(own[file.sha256])


def _wrong(path: Path, error: ManifestError) -> UsageError:
    if field := error.field.removeprefix("$").removeprefix("."):
        return UsageError("project_field_wrong", path=str(path), field=field, problem=error.problem)
    return UsageError("project_file_wrong", path=str(path), problem=error.problem)


def _host(table: object) -> Host:
    try:
        host = msgspec.convert(table, Host)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).replace("`", "").partition(" - at ")
        raise ManifestError("value_invalid", place.replace("$", "$.host", 1) or "$.host", detail=problem) from None
    for index, address in enumerate(host.extra_peers):
        if not is_peer_address(address):
            raise ManifestError("expected_peer_address", f"$.host.extra_peers[{index}]")
    return host


def _publish(table: dict[str, Any], folder: Path) -> list[ServedFile]:
    """Put the manifest's File entries in the place of local paths, and return the files."""
    published = []

    def publish(holder: dict[str, Any], key: str, field: str, text: bool) -> None:
        file = _published(_local(holder[key], folder, field), field, text)
        published.append(file)
        holder[key] = _entry(file)

    if "tokenizer" in table:
        publish(table, "tokenizer", "$.tokenizer", text=True)
    if "picture" in table:
        publish(table, "picture", "$.picture", text=False)
    _include_codebook(table.get("task"), folder)
    collections = list(_collections(table.get("data"), "$.data"))
    for data, field in collections:
        if "held_out" in data:
            _pack_held_out(data, folder, f"{field}.held_out")
            publish(data, "held_out", f"{field}.held_out", text=_is_text(data))
    held_out = {file.sha256 for file in published}
    for data, field in collections:
        entries = list[dict[str, Any]]()
        for shard, place in _shards(data, folder, f"{field}.shards"):
            if isinstance(shard, dict):
                # Elsewhere: the table of a file, as the manifest has it.
                entries.append(shard)
                continue
            own = _published(shard, place, text=_is_text(data))
            if own.sha256 in held_out:
                raise ManifestError("shard_is_held_out", f"{field}.shards", path=own.path.name)
            entries.append(_entry(own))
            published.append(own)
        data["shards"] = entries
    return published


def _include_codebook(task: object, folder: Path) -> None:
    """Put a task's codebook in the place of its path: it is small, and part of the manifest."""
    if isinstance(task, dict) and "codebook" in task:
        path, field = _local(task["codebook"], folder, "$.task.codebook"), "$.task.codebook"
        try:
            content = path.read_bytes()
            _check_png(content)
        except (OSError, SyntaxError, ValueError) as error:
            detail = getattr(error, "strerror", None) or str(error)
            raise ManifestError("file_unreadable", field, path=str(path), detail=detail) from None
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


def _is_text(data: dict[str, Any]) -> bool:
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
        raise ManifestError("file_unreadable", field, path=str(path), detail=error.strerror or str(error)) from None
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
        raise ManifestError("file_unreadable", field, path=str(path), detail=error.strerror or str(error)) from None
    if not status.st_size:
        raise ManifestError("file_empty", field, path=path.name)
    return ServedFile(path.resolve(), digest.hexdigest(), status.st_size, status.st_mtime_ns)

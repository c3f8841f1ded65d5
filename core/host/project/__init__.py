"""An organiser's `project.toml`: the manifest's fields, with local files where the manifest has URLs.

From it come the manifest that volunteers read and the files that the backbone serves. `docs/hosting.md` explains it.
"""

import re
import secrets
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from core.api.errors import ManifestError, UsageError, WorldError, detail_of
from core.api.project import manifest_reading
from core.api.project.data import Mixture
from core.api.project.fields import File, Positive
from core.api.project.manifest import Manifest
from core.api.project.peer_address import is_peer_address
from core.api.project.plain_json import check as check_plain
from core.host.project.files import ServedFile, is_text, publish
from core.system.atomic_file import write_atomically

_ROOM_FOR_PEERS = 64 << 10


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
        files = publish(table, path.parent)
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
        raise WorldError("state_folder_unusable", path=str(state), detail=detail_of(error)) from None
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", run_id):
        raise WorldError("run_id_missing", path=str(file))
    return run_id


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError("file_unreadable", path=str(path), detail=detail_of(error)) from None
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
        if is_text({"type": kind.__struct_config__.tag, "compression": getattr(kind, "compression", "none")}):
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

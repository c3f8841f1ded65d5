"""Checkpoints of a run: safetensors files with parameters, optimizer state and metadata.

Writing is atomic. The metadata contain a digest of the tensors, so that a damaged checkpoint is skipped in favour of
the one before.
"""

import contextlib
import errno
import hashlib
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from core.api.errors import WorldError, detail_of
from core.system.atomic_file import sync_folder

log = logging.getLogger(__name__)

_NAME = re.compile(r"checkpoint-(\d{9})\.safetensors")


@dataclass(frozen=True)
class Checkpoint:
    """`metadata` has at least `epoch`, `run_id` and `sha256`, the digest of the tensors."""

    path: Path
    tensors: dict[str, torch.Tensor]
    metadata: dict[str, str]

    @property
    def epoch(self) -> int:
        return int(self.metadata["epoch"])


def save(
    folder: Path,
    tensors: Mapping[str, torch.Tensor],
    *,
    epoch: int,
    run_id: str,
    metadata: Mapping[str, str] | None = None,
    keep: int = 3,
    keep_every: int = 0,
) -> Path:
    """Write a checkpoint, and delete all but the `keep` newest and those whose epoch is a multiple of `keep_every`.

    Raises:
        WorldError: it could not be written, for example because the disk is full; earlier ones are untouched.
    """
    path = folder / f"checkpoint-{epoch:09d}.safetensors"
    growing = folder / f".{path.name}.{os.getpid()}.part"
    plain = _plain(tensors)
    facts = {**(metadata or {}), "epoch": str(epoch), "run_id": run_id, "sha256": digest(plain)}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in folder.glob(".checkpoint-*.part"):
            # Of a process that was killed while it wrote.
            part.unlink()
        save_file(plain, growing, facts)
        with growing.open("rb") as written:
            os.fsync(written.fileno())
        growing.replace(path)
        sync_folder(folder)
    except (OSError, SafetensorError) as error:
        with contextlib.suppress(OSError):
            growing.unlink(missing_ok=True)
        raise WorldError("checkpoint_not_written", epoch=epoch, folder=str(folder), detail=_why(error)) from None
    _prune(folder, keep, keep_every)
    return path


def latest(folder: Path, run_id: str | None = None) -> Checkpoint | None:
    """The newest checkpoint that is whole, of `run_id` if given; the log names damaged ones that were passed over."""
    for path in reversed(saved(folder)):
        try:
            checkpoint = load(path)
        except WorldError as error:
            log.warning("%s", error)
            continue
        if run_id is None or checkpoint.metadata["run_id"] == run_id:
            return checkpoint
    return None


def load(path: Path) -> Checkpoint:
    """Read and verify one checkpoint.

    Raises:
        WorldError: it is damaged or cannot be read.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            # Copies, because get_tensor maps the file, which may be deleted while the model is in use.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (OSError, SafetensorError) as error:
        raise WorldError("checkpoint_damaged", name=path.name, detail=_why(error)) from None
    if metadata.get("sha256") != digest(tensors) or "run_id" not in metadata or not metadata.get("epoch", "").isdigit():
        raise WorldError("checkpoint_altered", name=path.name)
    return Checkpoint(path, tensors, metadata)


def saved(folder: Path) -> list[Path]:
    """Paths of the checkpoints in `folder`, oldest epoch first."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    return []


def epoch_of(path: Path) -> int:
    match = _NAME.fullmatch(path.name)
    if not match:
        raise ValueError(f"{path.name} is not a checkpoint's name")
    return int(match[1])


def digest(tensors: Mapping[str, torch.Tensor]) -> str:
    """SHA-256 of names, types, shapes and bytes of the tensors, in the order of their names."""
    made = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name]
        made.update(f"{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        made.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return made.hexdigest()


def _plain(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tensors as safetensors requires them: on the CPU, contiguous, without shared memory."""
    plain: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        copy = tensor.detach().cpu().contiguous()
        address = copy.untyped_storage().data_ptr()
        plain[name] = copy.clone() if address in seen else copy
        seen.add(address)
    return plain


def _prune(folder: Path, keep: int, keep_every: int) -> None:
    for path in saved(folder)[: -max(keep, 1)]:
        if not keep_every or epoch_of(path) % keep_every:
            with contextlib.suppress(OSError):
                path.unlink()


def _why(error: Exception) -> str:
    full = "os error 28" in str(error)  # safetensors
    return os.strerror(errno.ENOSPC) if full else detail_of(error).splitlines()[0]

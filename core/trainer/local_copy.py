"""The run's state as this computer last had it, so that a session that comes back soon need not fetch it again.

One file a run, there whole or not at all. Written when a session leaves, and now and then by a thread of its own, so
that a crash leaves one too.
"""

import contextlib
import hashlib
import json
import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from core.api.errors import WorldError
from core.learning import checkpoints
from core.swarm.state.checks import State

log = logging.getLogger(__name__)

EVERY = 300.0
"""Seconds between two copies."""
_RUNS = 8
"""Whose copies are kept: those used last."""


@dataclass(frozen=True)
class Kept:
    """A state that was read and is what was written."""

    epoch: int
    optimizer_numbers: list[Any]
    tensors: list[torch.Tensor]
    trail: list[Any]
    """The updates that led to it, as a donor tells them."""


class LocalCopy:
    """Of one run. No method raises for what a disk can do: without a copy a session costs more, but works."""

    def __init__(self, folder: Path, run_id: str) -> None:
        self._all, self._run_id = folder, run_id
        # The name is a stranger's.
        self._folder = folder / hashlib.sha256(run_id.encode()).hexdigest()[:16]
        self._writing = threading.Lock()
        self._next = time.monotonic() + EVERY

    def read(self) -> Kept | None:
        """The copy, if there is a good one; a bad one is set aside."""
        for path in reversed(checkpoints.saved(self._folder)):
            try:
                return _read(path, self._run_id)
            except WorldError as error:
                log.warning("%s: the copy is set aside", error)
                self._set_aside(path)
        return None

    def refuse(self, why: str) -> None:
        """The copy that was read cannot be used after all."""
        log.warning("The local copy is set aside: %s", why)
        for path in checkpoints.saved(self._folder):
            self._set_aside(path)

    def write_now_and_then(self, snapshot: Callable[[], State]) -> None:
        """If the last copy is old, write `snapshot()`, taken here and now, on a thread of its own."""
        now = time.monotonic()
        if now >= self._next and not self._writing.locked():
            self._next = now + EVERY
            threading.Thread(target=self.write, args=(snapshot(),), name="local copy", daemon=True).start()

    def write(self, state: State) -> None:
        """Replace the copy by `state`."""
        with self._writing:
            metadata, tensors = state
            try:
                checkpoints.save(
                    self._folder,
                    {f"{number:06d}": tensor for number, tensor in enumerate(tensors)},
                    epoch=metadata["epoch"],
                    run_id=self._run_id,
                    metadata={
                        "optimizer": json.dumps(metadata["optimizer_metadata"]),
                        "trail": json.dumps(metadata.get("trail", [])),
                    },
                    keep=1,
                )
                self._forget_old_runs()
            except (WorldError, OSError) as error:
                log.warning("%s: the state will be fetched from peers next time", error)

    def _set_aside(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.replace(self._folder / "set-aside.safetensors")

    def _forget_old_runs(self) -> None:
        runs = sorted(self._all.iterdir(), key=lambda run: run.stat().st_mtime, reverse=True)
        for run in runs[_RUNS:]:
            shutil.rmtree(run, ignore_errors=True)


def _read(path: Path, run_id: str) -> Kept:
    kept = checkpoints.load(path)
    if kept.metadata["run_id"] != run_id:
        raise WorldError("copy_of_another_run", name=path.name)
    tensors = [kept.tensors[name] for name in sorted(kept.tensors)]
    numbers = _list(kept.metadata.get("optimizer", ""))
    return Kept(kept.epoch, numbers, tensors, _list(kept.metadata.get("trail", "[]")))


def _list(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise WorldError("copy_damaged")
    return found

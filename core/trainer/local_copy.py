"""The run's state as this computer last had it, so that the next session need not fetch it again.

One file a run, written atomically: when a session leaves, and every five minutes by a thread of its own, so that there
is one after a crash too.
"""

import contextlib
import hashlib
import logging
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from core.api.errors import WorldError
from core.learning import checkpoints
from core.swarm.state.checks import State
from core.swarm.state.metadata_text import from_text, to_text

log = logging.getLogger(__name__)

EVERY = 300.0
"""Seconds between two copies."""
_RUNS = 8
"""Copies are kept of so many runs: those used last."""


class LocalCopy:
    """Of one run. No method raises for a failing disk: without a copy a session costs more, but works."""

    def __init__(self, folder: Path, run_id: str) -> None:
        self._all, self._run_id = folder, run_id
        # The name comes from a stranger.
        self._folder = folder / hashlib.sha256(run_id.encode()).hexdigest()[:16]
        self._writing = threading.Lock()
        self._next = time.monotonic() + EVERY

    def read(self) -> State | None:
        """The copy, or None; a damaged one is set aside."""
        for path in reversed(checkpoints.saved(self._folder)):
            try:
                return _read(path, self._run_id)
            except WorldError as error:
                log.warning("%s: the copy is set aside", error)
                self._set_aside(path)
        return None

    def refuse(self, why: str) -> None:
        """Set the copy aside, because it cannot be used."""
        log.warning("The local copy is set aside: %s", why)
        for path in checkpoints.saved(self._folder):
            self._set_aside(path)

    def write_if_due(self, snapshot: Callable[[], State]) -> None:
        """If the last copy is old, take `snapshot()` now and write it on a thread of its own."""
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
                    metadata=to_text(metadata),
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


def _read(path: Path, run_id: str) -> State:
    saved = checkpoints.load(path)
    if saved.metadata["run_id"] != run_id:
        raise WorldError("copy_of_another_run", name=path.name)
    return from_text(saved.epoch, saved.metadata), [saved.tensors[name] for name in sorted(saved.tensors)]

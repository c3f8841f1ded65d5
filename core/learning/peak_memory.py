"""Measures the memory that a computation takes while it runs, on any kind of device."""

import weakref
from collections.abc import Callable, Mapping
from typing import Any, Self

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from core.system import freed_memory, resident_peak

_UNCOUNTED = 1.5
"""Kernels have buffers of their own, and the allocator gaps: docs/measurements.md."""


class PeakMemory(TorchDispatchMode):
    """Counts, while it is entered, the bytes of the tensors that are made within; on Linux also those of the process.

    Read `peak` before anything else is computed.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch has no types here
        self._now = self._most = 0
        self._before: int | None = None
        self._known: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    def __enter__(self) -> Self:
        freed_memory.give_back()
        self._before = resident_peak.begin()
        super().__enter__()  # type: ignore[no-untyped-call]  # likewise
        return self

    @property
    def peak(self) -> int:
        """Bytes that the computation took in addition, at most at one time."""
        seen = 0 if self._before is None else resident_peak.peak() - self._before
        return max(seen, int(self._most * _UNCOUNTED))

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        # What comes from outside counts nothing, nor do views of it.
        self._see((args, kwargs), counted=False)
        made = func(*args, **(kwargs or {}))
        self._see(made, counted=True)
        return made

    def _see(self, values: object, *, counted: bool) -> None:
        for value in tree_iter(values):
            if isinstance(value, torch.Tensor):
                self._add(value.untyped_storage(), counted)

    def _add(self, storage: torch.UntypedStorage, counted: bool) -> None:
        key, size = storage._cdata, storage.nbytes() if counted else 0
        if key not in self._known:
            self._known[key] = weakref.ref(storage, lambda _storage: self._remove(key, size))
            self._now += size
            self._most = max(self._most, self._now)

    def _remove(self, key: int, size: int) -> None:
        del self._known[key]
        self._now -= size

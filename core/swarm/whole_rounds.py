"""Averaging rounds that end with the same bits for all, or fail.

hivemind's peers send each other *differences* between the average and what each brought, and each adds them to its own:
rounding then leaves every peer with other last bits, and a peer whose reducer was lost keeps its own part as if it had
been averaged. A round in which nobody has samples divides by nothing. Here the averages themselves are sent where
nothing compresses them, and a round that lost a part, or whose average is not finite, fails.
Where a codec is lossy, differences stay: a parameter rounded to 16 bits would forget small updates.
"""

from collections.abc import AsyncIterator
from typing import Any

import torch
from hivemind.averaging.allreduce import AllreduceException, AllReduceRunner
from hivemind.averaging.partition import TensorPartReducer
from hivemind.compression import NoCompression


class _Average(torch.Tensor):
    """What the reducer hands out: "less what the peer brought" it is still the average."""

    def __sub__(self, _brought: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.as_subclass(torch.Tensor)


class _Averages(TensorPartReducer):
    async def accumulate_part(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        average: torch.Tensor = await super().accumulate_part(*args, **kwargs)
        return average.as_subclass(_Average)


class WholeRound(AllReduceRunner):
    """One round; see the module. Takes hivemind's arguments."""

    def __init__(self, *, tensors: Any, compression: Any, **options: Any) -> None:
        super().__init__(tensors=tensors, compression=compression, **options)
        self._tensors = tensors
        self._is_exact = isinstance(compression, NoCompression)
        if self._is_exact:
            self.tensor_part_container.return_deltas = False
            # Made by hivemind's constructor, which asks nobody for its class.
            self.tensor_part_reducer.__class__ = _Averages

    async def run(self) -> AsyncIterator[torch.Tensor]:
        number = 0
        async for update in super().run():
            if not bool(torch.isfinite(update).all()):
                # Nobody had samples, so the weights add up to nothing; or a peer brought what is no number.
                raise AllreduceException("the average is not finite")
            if self._is_exact:
                # Who asks adds what comes: to nothing, so that it becomes the average and not something near it.
                self._tensors[number].zero_()
            number += 1
            yield update
        if self.tensor_part_container.failed_size:
            raise AllreduceException("a peer that averaged a part for all was lost")

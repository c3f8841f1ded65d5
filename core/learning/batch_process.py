"""Makes the batches of an order in a process of its own, before they are asked for: computing waits for none of them.

A thread would not do: it and the computing would wait for each other, since Python runs one of them at a time. The
process is forked, so it shares the libraries that are loaded. It makes a few batches and then waits. It is no pool of
`concurrent.futures`, which waits for ever if its process is killed while it sends.
"""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, NamedTuple

import psutil
import torch

from core.api.errors import IdlehiveError, WorldError
from core.learning.order import Order
from core.learning.tasks.task import Batch

log = logging.getLogger(__name__)

_AHEAD = 2
"""Batches; more than one, so that a single slow one delays nothing."""
_LONG, _AT_ONCE = 8, 5
"""Batches of an epoch that is long, and that are asked for at once then: a message takes a tenth of a millisecond, and
one batch that nobody takes is little. In a short epoch the process may be busy with those that are needed."""
_Made = dict[str, Any]
"""A batch as NumPy's arrays. They are copied through the pipe: shared memory has a name, stays if the process is killed
before it takes that away, and is small in containers (64 MB)."""


class _Signal(Enum):
    WAKE = "whoever waits for a batch checks whether it is still wanted"
    END = "no batch will come"


class _Key(NamedTuple):
    epoch: int
    portion: int
    number: int
    """Batches before it in the epoch."""


class BatchProcess:
    """Of one session, whose main thread makes it: with this thread the process ends.

    Parameters:
        check: called before a batch is awaited and after each `suspend`; what it raises ends the waiting.
    """

    def __init__(self, order: Order, check: Callable[[], None] = lambda: None) -> None:
        self.order, self._check = order, check
        context = get_context("fork")
        self._wire, other_end = context.Pipe()
        process = context.Process(target=_serve, args=(order, other_end, self._wire), daemon=True)
        process.start()
        other_end.close()
        self._process, self._wait_for_end = psutil.Process(process.pid), process.join
        self._asked = set[_Key]()
        self._made = dict[_Key, _Made | Exception]()
        self._arriving = SimpleQueue[tuple[_Key, _Made | Exception] | _Signal]()
        self._has_begun = Event()
        Thread(target=self._receive, name="batches", daemon=True).start()
        self._usual = 0
        """Batches of the epoch before: the next one begins probably after as many."""

    def batches(self, epoch: int, portion: int) -> Iterator[Batch]:
        """The same as those of the order. One iterator is in use at a time.

        Raises:
            WorldError: as the data's samples do, or the process has ended.
            Exception: what `check` raises; the next call waits for the same batch.
        """
        usual, self._usual = self._usual, 0
        return _Batches(self, epoch, portion, usual)

    def get(self, key: _Key, usual: int) -> Batch:
        """One batch, of an epoch that probably has so many. Raises as the iterator of `batches` does."""
        self._forget_errors()
        self._ask(key, usual)
        batch = self._answer(key)
        self._usual = key.number + 1
        return batch

    def suspend(self) -> None:
        """Stop at once, in the middle of a batch. May be called on another thread than the others."""
        # Before that it is not bound to this process's end.
        self._has_begun.wait()
        self._tell(psutil.Process.suspend)
        self._arriving.put(_Signal.WAKE)

    def resume(self) -> None:
        self._tell(psutil.Process.resume)

    def close(self) -> None:
        self._tell(psutil.Process.kill)
        self._wait_for_end()

    def _tell(self, act: Callable[[psutil.Process], None]) -> None:
        # Whoever asks for the next batch learns that the process has ended.
        with suppress(psutil.NoSuchProcess):
            act(self._process)

    def _ask(self, key: _Key, usual: int) -> None:
        """For this batch and for the next ones, unless they are asked for already."""
        wanted = list(islice(_next_ones(key, usual), _AT_ONCE if usual >= _LONG else 1 + _AHEAD))
        if self._asked.issuperset(wanted[: 1 + _AHEAD]):
            return
        self._asked = {asked for asked in self._asked if key <= asked <= max(wanted)}
        new = [each for each in wanted if each not in self._asked]
        self._asked.update(new)
        with suppress(OSError):
            self._wire.send(new)

    def _forget_errors(self) -> None:
        """Those of batches that were made ahead: what was wrong then may be right now, so they are made again."""
        while not self._arriving.empty():
            self._receive_next()
        for key in [key for key, made in self._made.items() if isinstance(made, Exception)]:
            del self._made[key]
            self._asked.discard(key)

    def _receive_next(self) -> None:
        answer = self._arriving.get()
        if answer is _Signal.END:
            self._arriving.put(answer)
            raise WorldError("data_process_ended")
        if not isinstance(answer, _Signal):
            self._made.update([answer] if answer[0] in self._asked else ())

    def _answer(self, key: _Key) -> Batch:
        while key not in self._made:
            self._check()
            self._receive_next()
        self._asked.remove(key)
        made = self._made.pop(key)
        self._made = {other: value for other, value in self._made.items() if other in self._asked}
        if isinstance(made, Exception):
            raise made
        return {name: torch.as_tensor(value) for name, value in made.items()}

    def _receive(self) -> None:
        try:
            self._wire.recv()
            self._has_begun.set()
            while True:
                self._arriving.put(self._wire.recv())
        except (EOFError, OSError):
            pass
        except Exception:  # such as an error of a library that cannot be unpickled
            log.exception("a batch cannot be received")
        finally:
            self._has_begun.set()
            self._arriving.put(_Signal.END)


def _next_ones(key: _Key, usual: int) -> Iterator[_Key]:
    """This batch and those that come next. Where a long epoch usually ends, both its end and another batch are likely:
    it has one more or less than the one before it."""
    end = usual if key.number < usual else key.number + 2
    yield from (_Key(key.epoch, key.portion, number) for number in range(key.number, end))
    for other in range(_AHEAD):
        yield _Key(key.epoch + 1, key.portion, other)
        if usual >= _LONG:
            yield _Key(key.epoch, key.portion, end + other)


class _Batches(Iterator[Batch]):
    """No generator: that would be finished by the first error."""

    def __init__(self, process: BatchProcess, epoch: int, portion: int, usual: int) -> None:
        self._process, self._next, self._usual = process, _Key(epoch, portion, 0), usual

    def __next__(self) -> Batch:
        batch = self._process.get(self._next, self._usual)
        self._next = self._next._replace(number=self._next.number + 1)
        return batch


class _Epochs:
    """In the process: makes any batch of the present epoch and of the next."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._begun = dict[tuple[int, int], tuple[int, Iterator[Batch]]]()
        """Of epoch and portion: how many batches were made, and the others."""

    def make(self, key: _Key) -> _Made:
        at = key.epoch, key.portion
        # Taken out: an iterator that fails has no further batch.
        made, batches = self._begun.pop(at, (0, iter(())))
        if not made or made > key.number:
            made, batches = 0, self._order.batches(*at)
        batch = next(islice(batches, key.number - made, None))
        self._begun = dict([*self._begun.items(), (at, (key.number + 1, batches))][-2:])
        return {name: value.numpy() for name, value in batch.items()}


def _serve(order: Order, wire: Connection, other_end: Connection) -> None:
    other_end.close()
    # As in the workers of torch's DataLoader: a forked process has none of its parent's threads.
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    epochs = _Epochs(order)
    with suppress(EOFError, OSError):
        wire.send(None)
        while True:
            for key in wire.recv():
                wire.send((key, _made_or_error(epochs, key)))


def _made_or_error(epochs: _Epochs, key: _Key) -> _Made | Exception:
    try:
        return epochs.make(key)
    except IdlehiveError as error:
        return error
    except Exception as error:  # whatever a sample makes a library do; the trainer's top level reports it
        log.exception("a batch cannot be made")
        return error

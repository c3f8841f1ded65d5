"""What hivemind's event loops lack: they keep their tasks until they are done, and wait for whole messages.

asyncio refers to its tasks only weakly, and so does hivemind to the futures that come from another process. A task that
waits for one of them and that nobody else knows is taken by the garbage collector: a search for a group that was given
up and withdraws its announcement, or a group that waits for its trigger. The locks that it holds are never released.

hivemind reads a pipe as soon as something has arrived, and uvloop makes what it watches non-blocking: the rest of a
message that is on its way is then taken for the next one, which ends the averager's process, or that of the DHT. Large
ones arrive in parts, and with many peers what an averager is told before a round is large.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Generator
from typing import Any


def repaired(make_loop: Callable[[], asyncio.AbstractEventLoop]) -> Callable[[], asyncio.AbstractEventLoop]:
    """`make_loop`, whose loop then keeps its tasks and waits for whole messages."""

    def made() -> asyncio.AbstractEventLoop:
        loop = make_loop()
        _keep_tasks(loop)
        _keep_blocking(loop)
        return loop

    return made


def _keep_tasks(loop: asyncio.AbstractEventLoop) -> None:
    tasks = set[asyncio.Task[Any]]()

    def create(
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
        **options: Any,
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coroutine, loop=loop, **options)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    loop.set_task_factory(create)


def _keep_blocking(loop: asyncio.AbstractEventLoop) -> None:
    add_reader = loop.add_reader

    def add(descriptor: int, *callback: Any) -> None:
        add_reader(descriptor, *callback)
        # The loop only asks whether there is something to read.
        os.set_blocking(descriptor, True)

    loop.add_reader = add  # type: ignore[assignment, method-assign]

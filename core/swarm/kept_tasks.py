"""Event loops that keep their tasks until they are done.

asyncio refers to its tasks only weakly, and so does hivemind to the futures that come from another process. A task that
waits for one of them and that nobody else knows is taken by the garbage collector: a search for a group that was given
up and withdraws its announcement, or a group that waits for its trigger. The locks that it holds are never released.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any


def keeping_tasks(make_loop: Callable[[], asyncio.AbstractEventLoop]) -> Callable[[], asyncio.AbstractEventLoop]:
    """`make_loop`, whose loop then keeps its tasks."""

    def made() -> asyncio.AbstractEventLoop:
        loop, tasks = make_loop(), set[asyncio.Task[Any]]()

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
        return loop

    return made

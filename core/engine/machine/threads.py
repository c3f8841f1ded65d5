"""Calls that may block for long, each on a thread of its own."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread(function: Callable[[], Result], seconds: float) -> Result:
    """The result of `function`, run on a thread of its own.

    asyncio's pool does not fit: the process cannot end before the pool's threads, and a hanging keyring or name server
    would delay Quit. A late call keeps running, and its result is ignored.

    Raises:
        TimeoutError: there was no result within `seconds`; and whatever `function` raises.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def set_outcome(result: Result | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]  # None is a Result where the function returns it

    def run() -> None:
        result, failure = None, None
        try:
            result = function()
        except Exception as error:  # noqa: BLE001 - it is raised again where the result is awaited
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(set_outcome, result, failure)

    threading.Thread(target=run, daemon=True).start()
    async with asyncio.timeout(seconds):
        return await done

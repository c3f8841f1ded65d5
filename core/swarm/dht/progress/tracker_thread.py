"""The thread of hivemind's progress tracker, ended with all that it waits for."""

import asyncio

from hivemind.optim.progress_tracker import ProgressTracker


class TrackerThread(ProgressTracker):
    """hivemind leaves the thread's event loop open, and in it the report or the reading that is on its way."""

    def run(self) -> None:
        async def both() -> None:
            await asyncio.gather(self._progress_reporter(), self._progress_fetcher())

        with asyncio.Runner() as runner:
            runner.run(both())
        self.shutdown_complete.set()

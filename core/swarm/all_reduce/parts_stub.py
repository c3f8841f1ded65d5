"""How a member sends its parts to a reducer: each when it is its turn."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from hivemind.proto import averaging_pb2

from core.swarm.all_reduce.send_window import SendWindow
from core.swarm.traffic.lingering_close import first


class PartsStub:
    """In place of hivemind's stub of one reducer. Answers end with the last part; their stream stays open for a while.

    Parameters:
        heard: called when an answer comes.
        stopped: called when the stream ends before all answers have come.
    """

    def __init__(
        self,
        stub: Any,
        window: SendWindow,
        *,
        reducer: int,
        count: int,
        heard: Callable[[], None],
        stopped: Callable[[], None],
    ) -> None:
        self._stub, self._window, self._reducer, self._count = stub, window, reducer, count
        self._heard, self._stopped = heard, stopped

    async def rpc_aggregate_part(self, parts: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            answers = await self._stub.rpc_aggregate_part(self._in_turn(parts))
        except BaseException:  # also cancelled: the others must not wait for this reducer's turn
            self._end()
            raise
        return self._answers(answers)

    async def _in_turn(self, parts: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for part in parts:
            await self._window.turn(self._reducer)
            yield part

    async def _answers(self, stream: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            async for answer in first(self._count, stream):
                self._heard()
                if answer.code == averaging_pb2.AVERAGED_PART:
                    self._window.add_answer(self._reducer)
                else:
                    # Who reads this raises an error, and what that refers to keeps this stream from being closed.
                    self._end()
                yield answer
        finally:
            self._end()

    def _end(self) -> None:
        if not self._window.end(self._reducer):
            self._stopped()

"""Requests to the engine that await their answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from app.text.i18n import tr

Done = Callable[[Any], None]
Refused = Callable[[str], None]


@dataclass
class _Request:
    kind: Any
    done: Done | None
    refused: Refused | None

    def refuse(self, sentence: str) -> None:
        if self.refused:
            self.refused(sentence)


class OpenRequests:
    """By number. Each calls `done` with the result as its `kind`, or `refused` with a sentence, once."""

    def __init__(self) -> None:
        self._requests: dict[int, _Request] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._requests)

    def add(self, kind: Any, done: Done | None, refused: Refused | None) -> int:
        """The number of a new request."""
        self._last += 1
        self._requests[self._last] = _Request(kind, done, refused)
        return self._last

    def answer(self, number: int, result: Any) -> None:
        request = self._requests.pop(number, None)
        if request is None or request.done is None:
            return
        try:
            value = result if request.kind is None else msgspec.convert(result, request.kind)
        except msgspec.ValidationError as error:
            request.refuse(tr("The engine gave an answer of another version: {error}.", error=error))
            return
        request.done(value)

    def refuse(self, number: int, sentence: str) -> None:
        if request := self._requests.pop(number, None):
            request.refuse(sentence)

    def refuse_all(self, sentence: str) -> None:
        requests, self._requests = self._requests, {}
        for request in requests.values():
            request.refuse(sentence)

    def forget(self) -> None:
        """Nobody waits for the answers any more."""
        self._requests.clear()

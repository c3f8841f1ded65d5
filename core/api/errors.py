"""Errors as data: a kind and its parameters, which front ends put into a sentence (`app.text.messages`).

Two families, because they ask for different answers: `WorldError` is the world's doing (no network, a full disk,
a wrong file) and may go away by itself; `UsageError` is an input that will never work and is answered with exit code 2.
Anything else that escapes is a fault of the program and keeps its traceback.
"""

from core.api.message import Message, Param


class IdlehiveError(Exception):
    """A failure that the volunteer is told about: `WorldError("disk_full", path="/data")`."""

    def __init__(self, kind: str | Message, /, **params: Param) -> None:
        """`kind` with its parameters, or the whole message of an error that is passed on."""
        self.message = kind if isinstance(kind, Message) else Message(kind, params)
        super().__init__(str(self.message))


class WorldError(IdlehiveError):
    """The world's doing: retrying later can help."""


class UsageError(IdlehiveError):
    """A wrong use or a wrong value: retrying cannot help. Exit code 2."""


class ManifestError(UsageError):
    """A manifest is not usable. `field` is the JSON path of the first wrong value, `$` for the document."""

    def __init__(self, problem: str | Message, /, field: str = "$", **params: Param) -> None:
        self.problem = problem if isinstance(problem, Message) else Message(problem, params)
        self.field = field
        super().__init__("manifest_unusable", field=field, problem=self.problem)


class EngineGone(WorldError):
    """The engine does not answer or has ended."""

"""Errors as data: a kind and its parameters, which front ends word (`app.text.messages`).

`WorldError` has an outside cause (no network, a full disk, a wrong file) that may go away by itself. `UsageError` is an
input that can never work; the command line answers it with exit code 2. Any other exception is a fault of the program
and keeps its traceback.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from core.api.message import Message, Param


class IdlehiveError(Exception):
    """A failure to report to the volunteer: `WorldError("disk_full", path="/data")`."""

    def __init__(self, kind: str | Message, /, **params: Param) -> None:
        """`kind` with its parameters, or the whole message of an error that is passed on."""
        self.message = kind if isinstance(kind, Message) else Message(kind, params)
        super().__init__(str(self.message))


class WorldError(IdlehiveError):
    """An outside cause: a later retry can help."""


class UsageError(IdlehiveError):
    """A wrong command or value: a retry cannot help."""


class ManifestError(UsageError):
    """A manifest is not usable. `field` is the JSON path of the first wrong value, `$` for the document."""

    def __init__(self, problem: str | Message, /, field: str = "$", **params: Param) -> None:
        self.problem = problem if isinstance(problem, Message) else Message(problem, params)
        self.field = field
        super().__init__("manifest_unusable", field=field, problem=self.problem)


class EngineGone(WorldError):
    """The engine does not answer or has ended."""


def detail_of(error: Exception) -> str:
    """What the system or a library says, without the error's number."""
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def os_errors_as(kind: str, /, **params: Param) -> Iterator[None]:
    """Within, an error of the operating system is a `WorldError` of this kind, with its reason as `detail`."""
    try:
        yield
    except OSError as error:
        raise WorldError(kind, **params, detail=detail_of(error)) from error

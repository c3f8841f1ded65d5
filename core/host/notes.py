"""What a backbone tells its organiser: the messages among its log records, in the terminal's language.

The rest of the log is technical, and stays English on stderr.
"""

import contextlib
import logging
import os

from core.api import hosting
from core.api.message import Message


class NoteHandler(logging.Handler):
    """Sends the messages of this process through `pipe` instead of writing them to the log.

    If nobody reads the pipe, the messages are lost, and the work goes on.
    """

    def __init__(self, pipe: int) -> None:
        super().__init__()
        self._pipe = pipe
        self.addFilter(lambda record: _message(record) is not None)

    def emit(self, record: logging.LogRecord) -> None:
        if (message := _message(record)) is not None:
            # A line is written at once, since several threads have notes.
            with contextlib.suppress(OSError):
                os.write(self._pipe, hosting.encode(hosting.Note(message, record.created)))


def is_technical(record: logging.LogRecord) -> bool:
    return _message(record) is None


def _message(record: logging.LogRecord) -> Message | None:
    """`log.info("%s", Message(…))`."""
    given = record.args[0] if isinstance(record.args, tuple) and len(record.args) == 1 else None
    return given if isinstance(given, Message) else None

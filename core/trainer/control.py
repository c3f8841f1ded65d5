"""The engine's commands to the session, read on a thread of its own so that they take effect during a round too."""

import os
import threading
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from core.api.session import ApplySettings, Hold, Leave, Resume, Start, TrainerCommand, UseProxy, command_decoder
from core.api.session_settings import SessionSettings
from core.system import proxy


def read_start(stream: BinaryIO) -> Start | None:
    """The first line of the wire; None when the engine went away before it sent one.

    Raises:
        msgspec.DecodeError: the line is not a Start.
    """
    line = stream.readline()
    if not line:
        return None
    return msgspec.json.decode(line, type=Start)


class Control:
    """Commands as flags that the training loop reads between two microbatches."""

    def __init__(self, stream: BinaryIO, settings: SessionSettings) -> None:
        self.leaving = threading.Event()
        self.settings = settings
        self.on_interruption: Callable[[], None] = lambda: None
        """Called on the reading thread, even while the loop waits for something."""
        self.on_resume: Callable[[], None] = lambda: None
        """Called on the reading thread."""
        self.on_settings: Callable[[SessionSettings], None] = lambda _settings: None
        self._held = threading.Event()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, args=(stream,), name="control", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def held(self) -> bool:
        return self._held.is_set()

    @property
    def interrupted(self) -> bool:
        """Whether a command asks to stop computing."""
        return self.held or self.leaving.is_set()

    def wait_while_held(self, seconds: float) -> bool:
        """Wait until the engine says Resume or Leave, at most so long; True if neither came."""
        with self._changed:
            return not self._changed.wait_for(lambda: not self.held or self.leaving.is_set(), seconds)

    def pause(self, seconds: float) -> None:
        """Wait, but no longer than until a command asks to stop computing."""
        with self._changed:
            self._changed.wait_for(lambda: self.interrupted, seconds)

    def leave(self) -> None:
        with self._changed:
            self.leaving.set()
            self._changed.notify_all()
        self.on_interruption()

    def _read(self, stream: BinaryIO) -> None:
        for line in stream:
            try:
                command = command_decoder.decode(line)
            except msgspec.DecodeError as error:
                # A newer engine may know more commands; they are only logged.
                os.write(2, f"unknown command: {error}\n".encode())
                continue
            self._apply(command)
        # The engine is gone, so nobody can stop this session any more.
        self.leave()

    def _apply(self, command: TrainerCommand) -> None:
        match command:
            case Leave():
                self.leave()
            case ApplySettings(settings):
                self.settings = settings
                self.on_settings(settings)
            case UseProxy(chosen):
                proxy.use(chosen)
            case Hold() | Resume():
                with self._changed:
                    self._held.set() if isinstance(command, Hold) else self._held.clear()
                    self._changed.notify_all()
                self.on_interruption() if self.held else self.on_resume()

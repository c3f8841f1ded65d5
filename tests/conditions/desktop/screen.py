"""An X server that nobody sees, with a window manager; what xdotool does to it is real input."""

import os
import secrets
import struct
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from tests.conditions.desktop.processes import end
from tests.waiting import wait_for

_WINDOW = """
import sys
from PySide6.QtWidgets import QApplication, QWidget
application = QApplication(["Arena"])
window = QWidget()
window.setWindowTitle(sys.argv[1])
getattr(window, sys.argv[2])()
application.exec()
"""


class Screen:
    """Starts on `with` and ends after. Only programs that know its cookie are let in."""

    def __enter__(self) -> Self:
        with ExitStack() as started:
            self._started = started
            self._folder = Path(started.enter_context(TemporaryDirectory(prefix="hive-screen")))
            self.authority = self._folder / "authority"
            self.authority.write_bytes(_entry(b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(16)))
            self.name = ""
            self.name = f":{self._start_server()}"
            self._start("openbox")
            wait_for(lambda: "window id" in self.ask("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"), what="openbox")
            self._started = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    def open_window(self, title: str, *, full_screen: bool) -> "subprocess.Popen[bytes]":
        """A real window, once it is active."""
        window = self._start(sys.executable, "-c", _WINDOW, title, "showFullScreen" if full_screen else "show")
        wait_for(lambda: self.ask("xdotool", "getactivewindow", "getwindowname").strip() == title, what=title)
        return window

    def touch(self) -> None:
        """Move the pointer, as a hand does."""
        self.ask("xdotool", "mousemove_relative", "--", "7", "5")

    def ask(self, *command: str) -> str:
        """What a small program prints; nothing where xdotool finds no window, which it also calls a failure."""
        done = subprocess.run(
            command, env=self._environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
            timeout=20,
        )  # fmt: skip
        return done.stdout

    def end_server(self) -> None:
        end(self._server)

    def _start_server(self) -> str:
        reading, writing = os.pipe()
        options = ("-displayfd", str(writing), "-auth", str(self.authority), "-nolisten", "tcp", "-noreset")
        self._server = self._start("Xvfb", *options, "-screen", "0", "800x600x24", keep_open=(writing,))
        os.close(writing)
        with os.fdopen(reading) as told:
            number = told.readline().strip()  # comes when the server can be used, or is gone
        assert number, (self._folder / "Xvfb.log").read_text()
        return number

    def _start(self, program: str, *arguments: str, keep_open: tuple[int, ...] = ()) -> "subprocess.Popen[bytes]":
        with (self._folder / f"{Path(program).name}.log").open("wb") as log:
            process = subprocess.Popen(
                [program, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment(),
                pass_fds=keep_open,
            )  # fmt: skip
        self._started.callback(end, process)
        return process

    def _environment(self) -> dict[str, str]:
        own = {"DISPLAY": self.name, "XAUTHORITY": str(self.authority), "QT_QPA_PLATFORM": "xcb"}
        return {**os.environ, **own, "HOME": str(self._folder), "XDG_RUNTIME_DIR": str(self._folder)}


def _entry(name: bytes, cookie: bytes) -> bytes:
    """A line of an authority file that is good for every display."""
    any_host = 65535
    return struct.pack(">H", any_host) + b"".join(struct.pack(">H", len(x)) + x for x in (b"", b"", name, cookie))

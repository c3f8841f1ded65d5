"""A screen that nobody sees, with a window manager, a message bus and a tray; its pointer and keys are real X input."""

import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from tests.end_to_end.machine import wait_for
from tests.end_to_end.picture import Picture, Point

WIDTH, HEIGHT = 1280, 860
_PANEL = 32

# Without the folders of installed services: nothing of this computer is started by a test's bus.
_BUS = """
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
"""
_TRAY = f"""
panel_items = S
panel_position = bottom center horizontal
panel_size = 100% {_PANEL}
panel_padding = 8 4 8
strut_policy = follow_size
systray_icon_size = 24
"""


class XDisplay:
    """Starts all of it on `with`, and ends it after."""

    def __init__(self) -> None:
        self.has_tray = shutil.which("tint2") is not None
        self._own = {"XDG_CURRENT_DESKTOP": "", "QT_QPA_PLATFORM": "xcb", "QT_QPA_PLATFORMTHEME": ""}
        self._running = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as started:
            self._running = started
            self._folder = Path(started.enter_context(TemporaryDirectory(prefix="hive-screen")))
            self._own |= {"HOME": str(self._folder), "XDG_RUNTIME_DIR": str(self._folder)}
            self._start_server()
            self._start_bus()
            self._start("openbox")
            wait_for(self._is_managed, 15, "a window manager")
            if self.has_tray:
                self._start("tint2", "-c", str(self._write("tint2rc", _TRAY)))
                wait_for(lambda: self.find("tint2"), 15, "a tray")
            self._running = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    @property
    def variables(self) -> dict[str, str]:
        """For programs that are to appear here, in place of what a desktop may have set."""
        return dict(self._own)

    def find(self, title: str) -> str | None:
        """The number of a visible window, by its whole title."""
        found = self._ask("xdotool", "search", "--onlyvisible", "--name", f"^{title}$").split()
        return found[-1] if found else None

    def focused_title(self) -> str:
        """Of the window that keys go to; empty if there is none."""
        return self._ask("xdotool", "getwindowfocus", "getwindowname").strip()

    def click(self, place: Point) -> None:
        """Go there with the pointer and press the left button; then take the pointer out of the way."""
        x, y = place
        self._ask("xdotool", "mousemove", str(x), str(y), "click", "1")
        self._ask("xdotool", "mousemove", str(WIDTH - 1), "0")

    def press(self, *keys: str) -> None:
        """Keys by their X names, such as `ctrl+q` or `Return`, to the window that has the keyboard."""
        self._ask("xdotool", "key", "--delay", "60", *keys)

    def picture(self, kept: Path | None = None, window: str = "root") -> Picture:
        """What is on the screen now, or in a window by its number; `kept` is the file that it stays in, as PNG."""
        file = kept or self._folder / "screen.png"
        subprocess.run(["import", "-window", window, file], env=self._environment(), check=True, timeout=20)
        return Picture.of_file(file)

    def _start_server(self) -> None:
        reading, writing = os.pipe()
        screen = ("-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-dpi", "96", "-nolisten", "tcp")
        self._start("Xvfb", "-displayfd", str(writing), *screen, keep_open=(writing,))
        os.close(writing)
        with os.fdopen(reading) as told:
            number = told.readline().strip()  # comes when the server can be used, or is gone
        assert number, (self._folder / "Xvfb.log").read_text()
        self._own["DISPLAY"] = f":{number}"

    def _start_bus(self) -> None:
        socket = self._folder / "bus"
        settings = self._write("bus.conf", _BUS.format(socket=socket))
        self._start("dbus-daemon", "--nofork", "--config-file", str(settings))
        wait_for(socket.exists, 15, "a message bus")
        self._own["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={socket}"

    def _is_managed(self) -> bool:
        return "window id" in self._ask("xprop", "-root", "_NET_SUPPORTING_WM_CHECK")

    def _start(self, program: str, *arguments: str, keep_open: tuple[int, ...] = ()) -> None:
        with (self._folder / f"{program}.log").open("wb") as log:
            process = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(),
                pass_fds=keep_open,
            )
        self._running.callback(_end, process)

    def _ask(self, *command: str) -> str:
        """What a small program prints: nothing where xdotool finds no window, which it also calls a failure."""
        done = subprocess.run(
            command, env=self._environment(), stdout=subprocess.PIPE, text=True, check=False, timeout=20
        )
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self._own}

    def _write(self, name: str, text: str) -> Path:
        file = self._folder / name
        file.write_text(text.strip())
        return file


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

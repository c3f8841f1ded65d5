"""A screen that nobody sees, with a window manager, a message bus and a tray; its pointer and keys are real X input."""

import os
import re
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, Self

from tests.conditions.desktop.dbus_services import BUS_SETTINGS
from tests.conditions.desktop.processes import end
from tests.end_to_end.machine import wait_for
from tests.end_to_end.window.picture import Picture, Point

WIDTH, HEIGHT = 1280, 860
_PANEL = 32

_TRAY = f"""
panel_items = S
panel_position = bottom center horizontal
panel_size = 100% {_PANEL}
panel_padding = 8 4 8
strut_policy = follow_size
systray_icon_size = 24
"""


# One panel at the bottom with a tray of the newer kind and nothing else, so that no other icon is in the way.
_XFCE_PANEL = f"""
<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array"><value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=8;x=0;y=0"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="length" type="uint" value="100"/>
      <property name="size" type="uint" value="{_PANEL}"/>
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray">
      <property name="square-icons" type="bool" value="true"/>
    </property>
  </property>
</channel>
"""
_XFCONFD = "/usr/lib/*/xfce4/xfconf/xfconfd"
_NOTIFICATIONS = """
[global]
    mouse_left_click = do_action, close_current
    origin = top-right
    offset = 20x20
    font = DejaVu Sans 11
"""

Tray = Literal["xembed", "statusnotifier", "none"]
"""Which kind of host the panel has: the older one of X11, or the one on the message bus."""


class XDisplay:
    """Starts all of it on `with`, and ends it after."""

    def __init__(self, tray: Tray | None = None, notifications: bool = False) -> None:
        """Without a wish, the tray is XEmbed where tint2 is installed."""
        self.tray = tray or ("xembed" if shutil.which("tint2") else "none")
        self._has_notifications = notifications
        self._own = {"XDG_CURRENT_DESKTOP": "", "QT_QPA_PLATFORM": "xcb", "QT_QPA_PLATFORMTHEME": ""}
        self._running = ExitStack()
        self._panel: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with ExitStack() as started:
            self._running = started
            self._folder = Path(started.enter_context(TemporaryDirectory(prefix="hive-screen")))
            self._own |= {"HOME": str(self._folder), "XDG_RUNTIME_DIR": str(self._folder)}
            self._start_server()
            self._start_bus()
            self._start("openbox")
            wait_for(self._is_managed, 15, "a window manager")
            self.start_tray()
            if self._has_notifications:
                self._start("dunst", "-conf", str(self._write("dunstrc", _NOTIFICATIONS)))
                wait_for(lambda: self.has_service("org.freedesktop.Notifications"), 15, "a notification daemon")
            self._running = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    @property
    def variables(self) -> dict[str, str]:
        """For programs that are to appear here, in place of what a desktop may have set."""
        return dict(self._own)

    def start_tray(self) -> None:
        """As `tray` wishes; also later than the program that it is to show."""
        if self.tray == "xembed":
            self._panel = self._start("tint2", "-c", str(self._write("tint2rc", _TRAY)))
            wait_for(lambda: self.find("tint2"), 15, "a tray")
        elif self.tray == "statusnotifier":
            self._write(".config/xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml", _XFCE_PANEL)
            if not self.has_service("org.xfce.Xfconf"):
                self._start(next(map(str, Path("/").glob(_XFCONFD[1:]))))
            wait_for(lambda: self.has_service("org.xfce.Xfconf"), 15, "the panel's settings")
            self._panel = self._start("xfce4-panel", "--disable-wm-check")
            wait_for(lambda: self.has_service("org.kde.StatusNotifierWatcher"), 15, "a tray")

    def end_tray(self) -> None:
        """As a panel that crashes, or that another takes the place of."""
        assert self._panel
        self._panel.kill()
        self._panel.wait()

    def has_service(self, name: str) -> bool:
        """Somebody on the message bus has this name."""
        found = self._ask(
            *("dbus-send", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus"),
            *("org.freedesktop.DBus.NameHasOwner", f"string:{name}"),
        )
        return "true" in found

    def notified(self) -> str:
        """What the notification daemon has shown and shows, as it lists it itself."""
        self._ask("dunstctl", "close-all")
        return self._ask("dunstctl", "history")

    def find(self, title: str) -> str | None:
        """The number of a visible window, by its whole title."""
        found = self._ask("xdotool", "search", "--onlyvisible", "--name", f"^{title}$").split()
        return found[-1] if found else None

    def windows(self) -> int:
        """How many the program has on the screen; an open menu is one."""
        return len(self._ask("xdotool", "search", "--onlyvisible", "--class", "idlehive").split())

    def state(self, window: str) -> str:
        """Normal or Iconic, as the window manager calls them; empty for a window that is withdrawn."""
        found = re.search(r"window state: (\w+)", self._ask("xprop", "-id", window, "WM_STATE"))
        return found[1] if found else ""

    def focused_title(self) -> str:
        """Of the window that keys go to; empty if there is none."""
        return self._ask("xdotool", "getwindowfocus", "getwindowname").strip()

    def active_title(self) -> str:
        """Of the window that the window manager's own keys are about: it learns of the focus after the server does."""
        return self._ask("xdotool", "getactivewindow", "getwindowname").strip()

    def click(self, place: Point, button: int = 1) -> None:
        """Go there with the pointer and press a button, the left one (1); then take the pointer out of the way."""
        x, y = place
        self._ask("xdotool", "mousemove", str(x), str(y), "click", str(button))
        self._ask("xdotool", "mousemove", str(WIDTH - 1), "0")

    def drag(self, start: Point, end: Point) -> None:
        """With the left button held, in a few steps as a hand does it."""
        steps = [(start[0] + (end[0] - start[0]) * n // 8, start[1] + (end[1] - start[1]) * n // 8) for n in range(9)]
        moves = [word for x, y in steps for word in ("mousemove", str(x), str(y))]
        self._ask("xdotool", *moves[:3], "mousedown", "1", *moves[3:], "mouseup", "1")
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
        settings = self._write("bus.conf", BUS_SETTINGS.format(socket=socket, services=socket.parent / "services"))
        self._start("dbus-daemon", "--nofork", "--config-file", str(settings))
        wait_for(socket.exists, 15, "a message bus")
        self._own["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={socket}"

    def _is_managed(self) -> bool:
        return "window id" in self._ask("xprop", "-root", "_NET_SUPPORTING_WM_CHECK")

    def _start(self, program: str, *arguments: str, keep_open: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        with (self._folder / f"{Path(program).name}.log").open("wb") as log:
            process = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(),
                pass_fds=keep_open,
            )
        self._running.callback(end, process)
        return process

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
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.strip())
        return file

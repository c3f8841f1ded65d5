"""The tray icon in real panels, and notices shown by a real daemon: a process of the program, a scripted engine.

Real X input goes to what is on the screen; nothing looks inside.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from app.desktop import autostart
from app.widgets import theme
from core.api.intent import Pause
from core.api.message import Message
from core.api.protocol import Event, Quit, Subscribe
from core.api.reasons import Reason, Severity
from core.client.profile import Profile
from tests.app.snapshots import CONTRIBUTING, IDLE
from tests.end_to_end.machine import wait_for
from tests.end_to_end.window.picture import Picture
from tests.end_to_end.window.x_display import HEIGHT, Tray, XDisplay
from tests.fakes.scripted_engine import ScriptedEngine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="these panels are those of X11"),
]

ROOT = Path(__file__).parents[3]
PROGRAM = "import sys; from app.window.application import open_app; sys.exit(open_app([]))"
ICON = (18, HEIGHT - 16)
"""Where both panels put a single icon."""
_MOMENT = 10.0
_DOUBLE_CLICK = 0.5

Start = Callable[[XDisplay], subprocess.Popen[bytes]]


@pytest.fixture(params=["xembed", "statusnotifier"])
def display(request: pytest.FixtureRequest) -> Iterator[XDisplay]:
    tray: Tray = request.param
    with XDisplay(tray, notifications=True) as screen:
        yield screen


@pytest.fixture
def start(profile: Profile, engine: ScriptedEngine) -> Iterator[Start]:
    running: list[subprocess.Popen[bytes]] = []

    def run(display: XDisplay) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **display.variables, "IDLEHIVE_HOME": str(profile.path)}
        running.append(subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment))
        wait_for(lambda: display.find("Idlehive"), 20, "a window")
        return running[-1]

    yield run
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()


def close_window(display: XDisplay) -> None:
    """With the window manager's own key, which the first time gets an explanation, and that an Enter."""
    wait_for(lambda: display.active_title() == "Idlehive", _MOMENT, "the window in front")  # it gets the keys
    display.press("alt+F4")
    wait_for(lambda: display.focused_title().startswith("Idlehive stays in the tray"), _MOMENT, "an explanation")
    display.press("Return")
    wait_for(lambda: not display.find("Idlehive"), _MOMENT, "no window")


def at_rest(display: XDisplay) -> Picture:
    """The picture once nothing moves in it: what a closed window leaves behind is drawn over a moment later."""
    seen = [display.picture()]

    def is_still() -> bool:
        seen.append(display.picture())
        return all(picture == seen[-1] for picture in seen[-4:-1]) and len(seen) > 3

    wait_for(is_still, _MOMENT, "a picture at rest")
    return seen[-1]


def wait_for_icon(display: XDisplay) -> None:
    x, y = ICON
    wait_for(lambda: display.picture().colours(x - 10, y - 10, x + 10, y + 10) > 3, _MOMENT, "an icon in the tray")


def test_the_icon_toggles_the_window_and_its_menu_pauses_and_quits(
    display: XDisplay, start: Start, engine: ScriptedEngine
) -> None:
    engine.show(CONTRIBUTING)
    process = start(display)
    wait_for_icon(display)
    close_window(display)
    display.click(ICON)
    wait_for(lambda: display.find("Idlehive"), _MOMENT, "the window again")
    wait_for(lambda: display.focused_title() == "Idlehive", _MOMENT, "the window in front")
    time.sleep(_DOUBLE_CLICK)  # sooner, this would be the second half of a double click
    display.click(ICON)
    wait_for(lambda: not display.find("Idlehive"), _MOMENT, "no window, and no second explanation")

    before = at_rest(display)
    display.click(ICON, button=3)
    wait_for(lambda: display.picture() != before, _MOMENT, "a menu")
    display.press("Down", "Return")
    assert engine.wait_for(Pause, seconds=_MOMENT).seconds is None

    wait_for(lambda: display.picture() == before, _MOMENT, "no menu")
    engine.show(IDLE)
    before = at_rest(display)
    display.click(ICON, button=3)
    wait_for(lambda: display.picture() != before, _MOMENT, "a menu")
    display.press("Up", "Return")
    engine.wait_for(Quit, seconds=_MOMENT)
    assert process.wait(20) == 0


def test_a_notice_is_shown_and_a_click_on_it_opens_the_window(
    display: XDisplay, start: Start, engine: ScriptedEngine
) -> None:
    engine.show(CONTRIBUTING)
    start(display)
    wait_for_icon(display)
    close_window(display)
    engine.tell(Event("first_contribution", Message("first_contribution"), 1.0, project="birds"))
    # Not any change of the picture: what the closed window leaves behind is still being drawn over.
    wait_for(lambda: display.find("Dunst"), _MOMENT, "a notice")
    display.click((1180, 50))
    wait_for(lambda: display.find("Idlehive"), _MOMENT, "the window")
    assert "Your computer contributes" in display.notified()


@pytest.mark.parametrize("tray", ["xembed", "statusnotifier"])
def test_with_no_tray_the_window_minimises_and_a_panel_that_comes_later_shows_the_icon(
    start: Start, engine: ScriptedEngine, tray: Tray
) -> None:
    engine.show(CONTRIBUTING)
    with XDisplay("none") as display:
        start(display)
        number = display.find("Idlehive")
        assert number
        wait_for(lambda: display.active_title() == "Idlehive", _MOMENT, "the window in front")
        display.press("alt+F4")
        wait_for(lambda: display.state(number) == "Iconic", _MOMENT, "a minimised window")
        display.tray = tray
        display.start_tray()
        wait_for_icon(display)
        display.click(ICON)
        wait_for(lambda: display.state(number) == "Normal", _MOMENT, "the window again")
        wait_for(lambda: display.picture().shows(theme.LIGHT.accent), _MOMENT, "the page")


def test_a_window_in_the_tray_comes_back_minimised_when_the_panel_goes_away(
    display: XDisplay, start: Start, engine: ScriptedEngine
) -> None:
    engine.show(CONTRIBUTING)
    start(display)
    number = display.find("Idlehive")
    assert number
    wait_for_icon(display)
    close_window(display)
    display.end_tray()
    wait_for(lambda: display.state(number) == "Iconic", 2 * _MOMENT, "a window in the list of windows")
    display.start_tray()
    wait_for_icon(display)
    display.click(ICON)
    wait_for(lambda: display.state(number) == "Normal", _MOMENT, "the window again")


def test_started_at_login_it_waits_in_the_tray_of_a_panel_that_comes_after_it(
    profile: Profile, tmp_path: Path, engine: ScriptedEngine, display: XDisplay
) -> None:
    """By dex, which starts what the desktop's autostart folders hold, as a session without one of its own does."""
    display.end_tray()
    own = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path), "IDLEHIVE_HOME": str(profile.path)}
    login_file = autostart.for_this_system(profile, environment=own)
    assert login_file
    login_file.set(True)
    engine.show(CONTRIBUTING)
    session = subprocess.Popen(
        ["dex", "--autostart", "--wait"], cwd=ROOT, env={**os.environ, **display.variables, **own}, process_group=0
    )
    try:
        engine.wait_for(Subscribe, seconds=20)
        display.start_tray()
        wait_for_icon(display)
        assert not display.find("Idlehive"), "no window at login"
        display.click(ICON)
        wait_for(lambda: display.find("Idlehive"), _MOMENT, "the window")
    finally:
        os.killpg(session.pid, signal.SIGTERM)
        session.wait()


def test_the_notice_of_a_problem_goes_away_with_the_problem(
    display: XDisplay, start: Start, engine: ScriptedEngine
) -> None:
    engine.show(CONTRIBUTING)
    start(display)
    wait_for_icon(display)
    close_window(display)
    missing = Reason("gpu_missing", False, {"cause": Message("gpu_not_listed")}, severity=Severity.PROBLEM)
    engine.show(msgspec.structs.replace(CONTRIBUTING, state="idle", reasons=(missing,)))
    wait_for(lambda: display.find("Dunst"), _MOMENT, "a notice")
    engine.show(CONTRIBUTING)
    wait_for(lambda: not display.find("Dunst"), _MOMENT, "no notice any more")

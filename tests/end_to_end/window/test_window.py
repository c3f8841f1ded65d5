"""The whole program as a volunteer meets it: the window on a screen, the pointer, the keyboard, a real run behind it.

`IDLEHIVE_TEST_PICTURES=FOLDER` keeps what was on the screen at each step there.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.widgets import theme
from tests.end_to_end.machine import Machine, Participant, Program, wait_for
from tests.end_to_end.window.picture import Picture
from tests.end_to_end.window.x_display import HEIGHT, XDisplay

LIGHT = theme.LIGHT
PROCESSOR_THREADS = ((760, 187), (956, 187))
"""On the limits page of a window at its first size: from "automatic", at the left of the slider, to its right end."""
_MOMENT = 5.0
"""Seconds in which the window answers, on a computer that does other things as well."""


@pytest.fixture
def display() -> Iterator[XDisplay]:
    with XDisplay() as screen:
        yield screen


def dots_on_the_curve(seen: Picture) -> int:
    """Epochs taken part in. Below the button nothing else is in the accent, but for one more dot in the legend."""
    button = seen.split_button(LIGHT.accent, LIGHT.card)
    return seen.spots(LIGHT.accent, button[1] + theme.BUTTON_HEIGHT, smallest=8) - 1 if button else 0


class Volunteer:
    """Sees the screen, and has a pointer and keys; asks the engine only to compare."""

    def __init__(self, display: XDisplay, profile: Participant, pictures: Path) -> None:
        self.display = display
        self.profile = profile
        self._pictures = pictures
        self._kept = 0

    def open_window(self) -> Program:
        if not (self.profile.home.path / "window.ini").exists():
            self.profile.has_been_welcomed()
        program = self.profile.start(**self.display.variables)
        wait_for(lambda: self.display.find("Idlehive"), 60, "a window")
        self.sees(lambda seen: seen.split_button(LIGHT.accent, LIGHT.card), "a button that can be pressed", 60)
        return program

    def keep(self, name: str) -> None:
        """A picture of this step."""
        self._kept += 1
        self.display.picture(self._pictures / f"{self._kept}-{name}.png")

    def sees(self, what: Callable[[Picture], object], name: str, seconds: float = _MOMENT) -> None:
        wait_for(lambda: what(self.display.picture()), seconds, f"on the screen: {name}")

    def the_button(self) -> tuple[int, int]:
        """Where the large one is, once it stays there: what is above it comes and goes with the state."""
        places: list[tuple[int, int] | None] = []

        def stays() -> bool:
            places.append(self.display.picture().split_button(LIGHT.accent, LIGHT.card))
            return len(places) > 2 and places[-3] == places[-2] == places[-1] is not None

        wait_for(stays, _MOMENT, "a button that stays where it is")
        place = places[-1]
        assert place
        return place

    def click_the_button(self) -> None:
        self.display.click(self.the_button())

    def until(self, what: Callable[[dict[str, Any]], object], seconds: float) -> dict[str, Any]:
        """The engine's status, once it is as wanted."""
        status: dict[str, Any] = {}

        def is_so() -> bool:
            status.update(self.profile.status())
            return bool(what(status))

        wait_for(is_so, seconds, f"the engine's state, which is {status}")
        return status


@pytest.fixture
def volunteer(display: XDisplay, machine: Machine, tmp_path: Path) -> Volunteer:
    pictures = Path(os.environ.get("IDLEHIVE_TEST_PICTURES", tmp_path))
    pictures.mkdir(parents=True, exist_ok=True)
    return Volunteer(display, machine.profile("me"), pictures)


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_a_volunteer_contributes_pauses_resumes_and_quits_by_pointer_and_keys(
    volunteer: Volunteer, machine: Machine
) -> None:
    program = volunteer.open_window()
    volunteer.keep("ready")

    clicked = time.monotonic()
    volunteer.click_the_button()
    volunteer.until(lambda status: status["state"] != "idle", _MOMENT)
    volunteer.sees(lambda seen: seen.shows(LIGHT.accent_text), "getting ready")
    volunteer.keep("getting-ready")
    volunteer.until(lambda status: status["state"] == "contributing", 180)
    print(f"contributing {time.monotonic() - clicked:.1f} s after the click")
    volunteer.sees(lambda seen: seen.shows(LIGHT.good), "contributing")
    volunteer.keep("contributing")
    volunteer.until(lambda status: status["progress"]["epoch"] >= 1, 90)
    print(f"first epoch done {time.monotonic() - clicked:.1f} s after the click")
    volunteer.until(lambda status: status["progress"]["epoch"] >= 3 and status["state"] == "contributing", 90)
    volunteer.sees(lambda seen: dots_on_the_curve(seen) >= 3, "three epochs on the curve")
    volunteer.keep("third-epoch")

    clicked = time.monotonic()
    volunteer.click_the_button()
    paused = volunteer.until(lambda status: status["state"] == "holding", _MOMENT)
    print(f"paused {time.monotonic() - clicked:.1f} s after the click")
    assert [reason["kind"] for reason in paused["reasons"]] == ["paused"]
    volunteer.sees(lambda seen: not seen.shows(LIGHT.good), "paused")
    volunteer.keep("paused")

    volunteer.click_the_button()
    volunteer.until(lambda status: status["state"] == "contributing", _MOMENT)
    volunteer.sees(lambda seen: seen.shows(LIGHT.good), "contributing again")

    volunteer.display.press("ctrl+q")
    wait_for(lambda: volunteer.display.focused_title() == "Quit Idlehive", _MOMENT, "the question")
    volunteer.keep("question")
    volunteer.display.press("Return")
    wait_for(lambda: not volunteer.display.find("Idlehive"), _MOMENT, "no window")
    volunteer.keep("gone")
    assert program.end(30) == 0, program.complained()
    assert program.complained() == ""
    machine.wait_until_nothing_is_left()


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_a_new_volunteer_is_welcomed_pauses_for_an_hour_changes_a_limit_paints_the_week_and_quits(
    machine: Machine, tmp_path: Path
) -> None:
    with XDisplay("xembed", notifications=True) as display:
        volunteer = Volunteer(display, machine.profile("new"), Path(os.environ.get("IDLEHIVE_TEST_PICTURES", tmp_path)))
        program = volunteer.profile.start(**display.variables)
        volunteer.sees(lambda seen: seen.lowest_button(LIGHT.accent), "a welcome with a button that can be pressed", 60)
        volunteer.keep("welcome")
        began = time.monotonic()
        place = display.picture().lowest_button(LIGHT.accent)
        assert place
        display.click(place)
        volunteer.until(lambda status: status["state"] == "contributing", 180)
        print(f"contributing {time.monotonic() - began:.1f} s after the one click on the welcome page")
        volunteer.sees(lambda seen: seen.shows(LIGHT.good), "contributing")

        pause = volunteer.the_button()
        windows = display.windows()
        display.click((pause[0] + 65, pause[1]))
        wait_for(lambda: display.windows() > windows, _MOMENT, "a menu of times")
        volunteer.keep("for-how-long")
        display.press("Down", "Down", "Return")
        paused = volunteer.until(lambda status: status["reasons"], _MOMENT)
        assert paused["reasons"][0]["kind"] == "snoozed"
        assert 3500 < paused["reasons"][0]["until"] - time.time() <= 3600
        volunteer.keep("paused-for-an-hour")

        limits = volunteer.profile.run("limits").stdout
        display.press("ctrl+4")
        volunteer.sees(lambda seen: seen.shows(LIGHT.gentle), "the limits")
        display.drag(*PROCESSOR_THREADS)
        wait_for(lambda: volunteer.profile.run("limits").stdout != limits, _MOMENT, "another limit")
        volunteer.keep("limit-changed")

        week = volunteer.profile.run("schedule").stdout
        display.press("ctrl+3")
        volunteer.sees(lambda seen: seen.shows(LIGHT.gentle), "the week")
        display.drag((600, 250), (740, 310))
        wait_for(lambda: volunteer.profile.run("schedule").stdout != week, _MOMENT, "another week")
        volunteer.keep("week-painted")

        display.press("alt+F4")
        wait_for(lambda: display.focused_title().startswith("Idlehive stays"), _MOMENT, "an explanation")
        display.press("Return")
        wait_for(lambda: not display.find("Idlehive"), _MOMENT, "no window")
        display.click((18, HEIGHT - 16))
        wait_for(lambda: display.focused_title() == "Idlehive", _MOMENT, "the window, from the tray")
        display.press("ctrl+q")
        wait_for(lambda: display.focused_title() == "Quit Idlehive", _MOMENT, "the question")
        display.press("Return")
        assert program.end(30) == 0, program.complained()
        assert program.complained() == ""
    machine.wait_until_nothing_is_left()

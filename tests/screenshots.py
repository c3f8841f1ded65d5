"""Pictures of a real run of the practice project: `python -m tests.screenshots FOLDER`.

They take two or three minutes, and a computer that does little else: the figures in them are what it gave.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.widgets import theme
from app.window.application import open_app
from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.end_to_end.window.x_display import XDisplay

EPOCHS = 16
PAGES = ("home", "projects", "schedule", "limits", "history", "log", "settings")
"""In the order of the sidebar."""
_UNTIL_THEN = 300.0
_MOMENT = 30.0
_DARK = "--dark-window"


def main(arguments: list[str]) -> int:
    """Write every page in both themes into a folder."""
    if arguments == [_DARK]:
        theme.LIGHT = theme.DARK  # as if the desktop preferred dark
        return open_app([])
    if len(arguments) != 1:
        print("Usage: python -m tests.screenshots FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    machine = Machine()
    try:
        with XDisplay() as display:
            take_all(folder, display, machine.profile("volunteer"))
    finally:
        machine.clean_up()
    return 0


def take_all(folder: Path, display: XDisplay, volunteer: Participant) -> None:
    volunteer.has_been_welcomed()
    volunteer.start("contribute")
    # The first epoch is celebrated in a window, once: that is not what every day looks like.
    with window(display, volunteer, "app"):
        wait_for(lambda: volunteer.progress()["epoch"] >= 2, _UNTIL_THEN, "the first epochs")
    wait_for(lambda: volunteer.progress()["epoch"] >= EPOCHS, _UNTIL_THEN, f"epoch {EPOCHS}")
    with window(display, volunteer, "app") as light:
        wait_for(lambda: is_worth_a_picture(volunteer.progress()), _MOMENT, "a batch half full")
        take_pages(folder, display, light, "light")
    with window(display, volunteer, "tests.screenshots", _DARK) as dark:
        wait_for(lambda: is_worth_a_picture(volunteer.progress()), _MOMENT, "a batch half full")
        take_pages(folder, display, dark, "dark")
    volunteer.run("quit")


def take_pages(folder: Path, display: XDisplay, number: str, name: str) -> None:
    display.picture(folder / f"home-{name}.png", number)
    for place, page in enumerate(PAGES[1:], 2):
        turn_to(f"ctrl+{place}", display)
        display.picture(folder / f"{page}-{name}.png", number)


def turn_to(keys: str, display: XDisplay) -> None:
    """Open another page, and return once nothing on it moves any more."""
    before = display.picture()
    display.press(keys)
    wait_for(lambda: display.picture() != before, _MOMENT, "another page")
    wait_for(lambda: at_rest(display), _MOMENT, "a page at rest")


def at_rest(display: XDisplay) -> bool:
    earlier = display.picture()
    return display.picture() == earlier


@contextmanager
def window(display: XDisplay, volunteer: Participant, module: str, *arguments: str) -> Iterator[str]:
    """The number of the program's window, which shows that it contributes. The run goes on after it."""
    program = volunteer.start(*arguments, module=module, **display.variables)
    number = wait_for(lambda: display.find("Idlehive"), _MOMENT, "the window")
    tokens = theme.DARK if _DARK in arguments else theme.LIGHT
    wait_for(lambda: display.picture().shows(tokens.good), _UNTIL_THEN, "a contribution")
    assert number is not None
    yield number
    program.process.terminate()
    program.end()


def is_worth_a_picture(now: dict[str, Any]) -> bool:
    """Both peers can be told apart in the ring."""
    full = now["epoch_samples"] / max(1, now["target_batch_size"])
    return bool(now["peers"] > 1 and 0.4 < full < 0.7 and now["own_epoch_samples"] < now["epoch_samples"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

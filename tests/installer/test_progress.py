"""The display of a set-up."""

import io

import pytest

from installer.progress import Progress, UvReader, describe, draw

CELLS = ("#", ".")


class Terminal(io.StringIO):
    """Keeps what a terminal would get."""

    def isatty(self) -> bool:
        return True


def test_one_line_says_how_far_since_when_and_what() -> None:
    assert draw("Setting up", 0.5, "installing", 83.4, CELLS) == "Setting up  ######......  50%  1:23  installing"


def test_a_pipe_gets_one_line_a_stage_and_no_control_characters() -> None:
    out = io.StringIO()
    with Progress(out, "Setting up") as progress:
        progress.stage("fetching", 0.2)
        progress.step("fetching numpy", 0.3)
    assert out.getvalue() == "Setting up\n  fetching\nReady after 0 s.\n"


def test_a_terminal_keeps_only_notes_and_the_last_line() -> None:
    out = Terminal()
    with Progress(out, "Setting up") as progress:
        progress.stage("fetching", 0.2)
        progress.note("something to know")
    kept = [line.split("\033[K")[-1] for line in out.getvalue().split("\n")]
    assert kept == ["something to know", "Ready after 0 s.", ""]


def test_a_failed_set_up_is_never_called_ready() -> None:
    out = io.StringIO()
    with pytest.raises(OSError, match="disk"), Progress(out, "Setting up"):
        raise OSError("disk")
    assert out.getvalue() == "Setting up\n"


def test_the_bar_follows_the_bytes_that_uv_still_has_to_fetch() -> None:
    steps: list[tuple[str, float]] = []

    class Recorder(Progress):
        def step(self, text: str, fraction: float) -> None:
            steps.append((text, round(fraction, 2)))

    reader = UvReader(Recorder(io.StringIO(), "Setting up"), 0.0, 1.0)
    for line in (
        "Resolved 88 packages in 2.19s\n",
        "Downloading numpy (25.0MiB)\n",
        "Downloading torch (75.0MiB)\n",
        " Downloaded torch\n",
        " Downloaded numpy\n",
        "Prepared 88 packages in 5.68s\n",
        "Installed 88 packages in 206ms\n",
    ):
        reader(line)
    assert steps == [
        ("installing 88 packages", 0.1),
        ("numpy (25 MiB)", 0.1),
        ("torch (75 MiB) +1", 0.1),
        ("numpy (25 MiB)", 0.62),
        ("unpacking", 0.8),
        ("installing", 0.8),
        ("compiling", 0.85),
    ]


def test_nothing_pending_means_unpacking() -> None:
    assert describe({}) == "unpacking"

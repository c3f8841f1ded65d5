"""Sessions on Windows: what wsl.exe says is read, and what comes next is decided, without Windows."""

from pathlib import PureWindowsPath

import pytest

from core.client import wsl
from core.client.wsl import Distribution, Step

ENGLISH = """  NAME                   STATE           VERSION
* Ubuntu-24.04           Running         2
  Idlehive               Stopped         1
"""
GERMAN = """  NAME              STATUS            VERSION
* docker-desktop    Wird ausgeführt   2
  Idlehive          Beendet           2
"""


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16", "utf-8"])
def test_distributions_are_read_in_each_encoding(encoding: str) -> None:
    output = ENGLISH.replace("\n", "\r\n").encode(encoding)
    assert wsl.distributions(output) == (Distribution("Ubuntu-24.04", 2), Distribution("Idlehive", 1))


def test_the_language_of_windows_does_not_matter() -> None:
    found = wsl.distributions(GERMAN.encode("utf-16-le"))
    assert found == (Distribution("docker-desktop", 2), Distribution("Idlehive", 2))


@pytest.mark.parametrize(
    "said", ["", "Windows Subsystem for Linux has no installed distributions.\r\n", "\ud800 2", "* \n2\n"]
)
def test_what_is_no_list_has_no_distributions(said: str) -> None:
    assert wsl.distributions(said.encode("utf-16-le", errors="surrogatepass")) == ()


@pytest.mark.parametrize(
    ("status", "known", "unpacked", "step"),
    [
        (None, (), False, Step.INSTALL_WSL),
        (50, (), False, Step.INSTALL_WSL),
        (0, (), False, Step.IMPORT),
        (0, (Distribution("Ubuntu", 2),), False, Step.IMPORT),
        (0, (Distribution("Ubuntu", 2), Distribution("idlehive", 1)), True, Step.CONVERT),
        (0, (Distribution("Idlehive", 2),), False, Step.UNPACK),
        (0, (Distribution("Idlehive", 2),), True, Step.READY),
    ],
)
def test_one_step_follows_the_other(
    status: int | None, known: tuple[Distribution, ...], unpacked: bool, step: Step
) -> None:
    assert wsl.next_step(status, known, unpacked=unpacked) is step


def test_each_step_leads_to_the_next() -> None:
    commands = {step: wsl.command(step, r"C:\Users\me\wsl", r"C:\root.tar") for step in Step}
    assert all(command[0] == wsl.WSL for command in commands.values())
    assert len(set(commands.values())) == len(Step)
    assert commands[Step.IMPORT][2:5] == ("Idlehive", r"C:\Users\me\wsl", r"C:\root.tar")


def test_no_program_of_the_current_folder_is_run_instead() -> None:
    assert PureWindowsPath(wsl.WSL) == PureWindowsPath(r"C:\Windows\System32\wsl.exe")
    for command in (wsl.STATUS, wsl.LIST, wsl.VERSION, wsl.GPUS):
        assert command[0] == wsl.WSL


def test_gpus_that_are_passed_through_are_read() -> None:
    output = b"NVIDIA GeForce RTX 3060, 12288\r\nNVIDIA A100-SXM4-80GB, 81920\n"
    assert wsl.gpus(output) == ("NVIDIA GeForce RTX 3060", "NVIDIA A100-SXM4-80GB")
    assert wsl.gpus(b"NVIDIA-SMI has failed because it couldn't communicate with the driver, sorry\n") == ()


@pytest.mark.parametrize(
    ("windows", "linux"),
    [
        (r"C:\Users\Zoë M\projects", "/mnt/c/Users/Zoë M/projects"),
        ("d:/data", "/mnt/d/data"),
        ("--embedded", "--embedded"),
        ("127.0.0.1:0", "127.0.0.1:0"),
        (r"relative\path", r"relative\path"),
        (r"\\server\share\x", r"\\server\share\x"),
        ("c:no-root", "c:no-root"),
    ],
)
def test_only_absolute_paths_of_a_drive_are_translated(windows: str, linux: str) -> None:
    assert wsl.linux_path(windows) == linux


def test_a_session_runs_under_the_subreaper_in_the_distribution() -> None:
    command = wsl.session((wsl.WSL,), "/tmp/session-1", [*wsl.compute("core.host"), "--state", "/var/lib/idlehive/x"])
    assert command[:6] == [wsl.WSL, "-d", "Idlehive", "--cd", "/opt/idlehive", "--exec"]
    under, program = command[: command.index("--")], command[command.index("--") + 1 :]
    assert under[-2:] == ["core.system.subreaper", "/tmp/session-1"]
    assert program[0] == "/opt/idlehive/python/bin/python3"
    assert program[-4:] == ["/var/lib/idlehive/compute", "core.host", "--state", "/var/lib/idlehive/x"]

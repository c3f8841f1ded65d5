"""Sessions on Windows: they run in WSL 2, in a distribution of their own, with the portable build for Linux in it.

hivemind needs `fork` and Unix sockets, which Windows lacks. `wsl.exe` passes on standard input and output, and those
are the wire between engine and session, so nothing else has to be forwarded. This module reads what `wsl.exe` says,
decides what comes next, and has the command lines (Microsoft's "Basic commands for WSL"). Pure.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import PureWindowsPath

WSL = str(PureWindowsPath(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "wsl.exe"))
"""With its folder: Windows looks for a bare name in the current folder first."""
DISTRIBUTION = "Idlehive"
HOME = "/opt/idlehive"
"""The portable build inside the distribution."""
DATA = "/var/lib/idlehive"
"""Compute runtime, data and copies of states: files of Windows would be slow there."""
SESSIONS = "/tmp"  # noqa: S108 - nobody else has an account in this distribution
_PYTHON = (f"{HOME}/python/bin/python3", "-P", "-m")
_LIST = re.compile(r"^\*?\s*(?P<name>\S+)\s+\S.*?\s+(?P<version>[12])$")


@dataclass(frozen=True)
class Distribution:
    """A line of `wsl.exe --list --verbose`."""

    name: str
    version: int
    """Of WSL: 1 has no Linux kernel, and so no GPU."""


class Step(Enum):
    """What has to be done next; each needs the volunteer's consent."""

    INSTALL_WSL = "install_wsl"
    """Needs an administrator and a restart of Windows."""
    IMPORT = "import"
    CONVERT = "convert"
    """The distribution is one of version 1."""
    UNPACK = "unpack"
    """The build of this version, in place of an older one."""
    READY = "ready"


def text(output: bytes) -> str:
    """What wsl.exe wrote: UTF-16 without a mark, or UTF-8 where WSL_UTF8 is set."""
    encoding = "utf-16-le" if b"\0" in output else "utf-8"
    return output.decode(encoding, errors="replace").lstrip("\ufeff").replace("\0", "")


def distributions(output: bytes) -> tuple[Distribution, ...]:
    """From `wsl.exe --list --verbose`; heading and states are in the language of Windows."""
    found = (_LIST.match(line.strip()) for line in text(output).splitlines())
    return tuple(Distribution(each["name"], int(each["version"])) for each in found if each)


def next_step(status: int | None, known: Sequence[Distribution], *, unpacked: bool) -> Step:
    """`status`: the exit code of `STATUS` (None: there is no wsl.exe); `unpacked`: this version is in it."""
    if status != 0:
        return Step.INSTALL_WSL
    ours = next((each for each in known if each.name.lower() == DISTRIBUTION.lower()), None)
    if ours is None:
        return Step.IMPORT
    if ours.version != 2:
        return Step.CONVERT
    return Step.READY if unpacked else Step.UNPACK


STATUS = (WSL, "--status")
LIST = (WSL, "--list", "--verbose")
VERSION = (WSL, "-d", DISTRIBUTION, "--exec", f"{HOME}/idlehive", "--version")
REMOVE = (WSL, "--unregister", DISTRIBUTION)
"""Deletes the distribution with all its files."""
GPUS = (
    WSL, "-d", DISTRIBUTION, "--exec", "/usr/lib/wsl/lib/nvidia-smi",
    "--query-gpu=name,memory.total", "--format=csv,noheader,nounits",
)  # fmt: skip
"""Fails where no GPU is passed through."""


def command(step: Step, folder: str, image: str) -> tuple[str, ...]:
    """What performs a step. `folder` is where Windows keeps the distribution, `image` its root file system (tar).

    UNPACK reads the image from its standard input.
    """
    match step:
        case Step.INSTALL_WSL:
            return (WSL, "--install", "--no-distribution")
        case Step.IMPORT:
            return (WSL, "--import", DISTRIBUTION, folder, image, "--version", "2")
        case Step.CONVERT:
            return (WSL, "--set-version", DISTRIBUTION, "2")
        case Step.UNPACK:
            unpack = f"rm -rf {HOME} && exec tar -C / -xf - {HOME.removeprefix('/')}"
            return (WSL, "-d", DISTRIBUTION, "-u", "root", "--exec", "/bin/sh", "-c", unpack)
        case Step.READY:
            return VERSION


def gpus(output: bytes) -> tuple[str, ...]:
    """Names from `GPUS`; a line without an amount of memory is a message."""
    return tuple(re.findall(r"^ *(.+?) *, *[0-9]+ *\r?$", text(output), re.MULTILINE))


def compute(module: str) -> list[str]:
    """The command line, inside the distribution, of a module of core that computes."""
    return [*_PYTHON, "core.runtime.launch", f"{DATA}/compute", module]


def session(program: Sequence[str], folder: str, command: Sequence[str]) -> list[str]:
    """The command line that runs `command` in the distribution, under the subreaper there.

    `program` is wsl.exe, `folder` the session's in the distribution.
    """
    return [*program, *_module("core.system.subreaper", folder, "--"), *command]


def installation(program: Sequence[str], *, update: bool) -> list[str]:
    """The command line that installs the compute runtime in the distribution, or keeps one that will do."""
    return [*program, *_module("core.runtime", f"{DATA}/compute", *(["--update"] if update else []))]


def _module(*words: str) -> list[str]:
    return [
        *("-d", DISTRIBUTION, "--cd", HOME, "--exec"),
        *("/usr/bin/env", f"PYTHONPATH={HOME}/lib:{HOME}", *_PYTHON, *words),
    ]


def linux_path(argument: str) -> str:
    r"""`C:\Users\me` is /mnt/c/Users/me in WSL; whatever else it is stays as it is."""
    path = PureWindowsPath(argument)
    if not re.fullmatch("[A-Za-z]:", path.drive) or not path.is_absolute():
        return argument
    return "/".join(["/mnt", path.drive[0].lower(), *path.parts[1:]])

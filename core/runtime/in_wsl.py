"""`python -m core.runtime.in_wsl FOLDER`: set up WSL and, in a distribution of its own, the compute runtime (Windows).

Like `core.runtime`: the proxy comes as the first line of stdin, and the progress goes to stdout. Each step is only
done if what wsl.exe answers says that it is missing, so whoever is interrupted goes on at the next start. FOLDER has
the distribution and the marker of a finished set-up; wsl.exe is started here alone. WSL_PROGRAM names a stand-in.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

import msgspec

from core.api.errors import WorldError
from core.api.installation.compute_runtime import Build, ComputeRuntime
from core.api.message import Message
from core.client import wsl
from core.client.installation import ROOT, version
from core.client.wsl import Step
from core.runtime import failures
from core.system.atomic_file import write_atomically

IMAGE = ROOT / "wsl" / "root.tar"
"""Of the package for Windows: a root file system with the portable build for Linux in it."""
DISTRIBUTION = "distribution"
"""Folder of its disk."""
_SHORT = 120.0
"""Seconds for a question; the first one starts the virtual machine."""


class Finished(msgspec.Struct, frozen=True):
    """What the marker says: this version of Idlehive is set up in the distribution."""

    version: str
    build: Build = "cpu"
    gpus: tuple[str, ...] = ()


def marker(folder: Path) -> Path:
    return folder / "in-wsl.json"


def finished(folder: Path) -> Finished | None:
    """None: not set up, or by another version."""
    try:
        found = msgspec.json.decode(marker(folder).read_bytes(), type=Finished)
    except (OSError, msgspec.DecodeError):
        return None
    return found if found.version == version() else None


class Setup:
    """One run of all steps. Raises WorldError, OSError."""

    def __init__(self, folder: Path, program: Sequence[str] = (wsl.WSL,), image: Path = IMAGE) -> None:
        self._folder, self._program, self._image = folder, list(program), image

    def run(self, proxy: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_repair = finished(self._folder) is not None
        done: set[Step] = set()
        while (step := self.next_step()) is not Step.READY:
            if step in done:
                # wsl.exe has reported success, and it is missing still.
                raise _still_missing(step)
            _print(ComputeRuntime(step=step.value))
            marker(self._folder).unlink(missing_ok=True)
            self._perform(step)
            done.add(step)
        self._install(proxy, wsl.gpus(self._ask(wsl.GPUS)[1]), update=not is_repair)

    def next_step(self) -> Step:
        """From what wsl.exe answers now."""
        status = self._ask(wsl.STATUS)[0]
        if status != 0:
            return wsl.next_step(status, (), unpacked=False)
        known = wsl.distributions(self._ask(wsl.LIST)[1])
        step = wsl.next_step(status, known, unpacked=True)
        if step is not Step.READY:
            return step
        code, said = self._ask(wsl.VERSION)
        return wsl.next_step(status, known, unpacked=code == 0 and version() in wsl.text(said).split())

    def remove(self) -> None:
        """Delete the distribution, with all that is in it."""
        self._ask(wsl.REMOVE)

    def _perform(self, step: Step) -> None:
        if step in (Step.IMPORT, Step.UNPACK) and not self._image.exists():
            raise WorldError("wsl_no_image", path=str(self._image))
        command = wsl.command(step, str(self._folder / DISTRIBUTION), str(self._image))
        with open(self._image if step is Step.UNPACK else os.devnull, "rb") as given:  # noqa: PTH123 - or none
            code, said = self._run(command, stdin=given.fileno())
        if code != 0:
            raise WorldError(failures.explain_wsl(wsl.text(said), code))

    def _install(self, proxy: bytes, gpus: tuple[str, ...], *, update: bool) -> None:
        """Run the installation in the distribution, and pass on what it reports."""
        last = ComputeRuntime()
        with subprocess.Popen(
            wsl.installation(self._program, update=update), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as installing:
            given, said = cast("IO[bytes]", installing.stdin), cast("IO[bytes]", installing.stdout)
            with given:
                given.write(proxy)
            for line in said:
                last = msgspec.structs.replace(msgspec.json.decode(line, type=ComputeRuntime), gpus=gpus)
                if last.ready:
                    done = Finished(version(), last.build, gpus)
                    write_atomically(marker(self._folder), msgspec.json.encode(done))
                _print(last)
        if not last.ready and last.failure is None:
            raise WorldError("runtime_interrupted")

    def _ask(self, command: Sequence[str]) -> tuple[int | None, bytes]:
        try:
            return self._run(command, stdin=subprocess.DEVNULL, seconds=_SHORT)
        except FileNotFoundError:
            return None, b""
        except subprocess.TimeoutExpired:
            raise WorldError("wsl_silent", seconds=_SHORT) from None

    def _run(self, command: Sequence[str], stdin: int, seconds: float | None = None) -> tuple[int, bytes]:
        done = subprocess.run(
            [*self._program, *command[1:]],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
        if done.returncode:
            sys.stderr.write(wsl.text(done.stdout))
        return done.returncode, done.stdout


def _still_missing(step: Step) -> WorldError:
    """Windows has to restart before WSL answers."""
    return WorldError("wsl_restart") if step is Step.INSTALL_WSL else WorldError("wsl_failed", detail=step.value)


def program() -> list[str]:
    """wsl.exe, or the stand-in of tests."""
    return shlex.split(os.environ.get("WSL_PROGRAM", "")) or [wsl.WSL]


def _print(status: ComputeRuntime) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(status) + b"\n")
    sys.stdout.buffer.flush()


def main(folder: Path) -> int:
    proxy = sys.stdin.buffer.readline()
    try:
        Setup(folder, program(), Path(os.environ.get("WSL_IMAGE", IMAGE))).run(proxy)
    except WorldError as error:
        failure = error.message
    except OSError as error:
        failure = failures.explain(str(error), str(folder))
    except msgspec.DecodeError as error:
        failure = Message("wsl_failed", {"detail": str(error)})
    else:
        return 0
    _print(ComputeRuntime(failure=failure))
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

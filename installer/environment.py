"""Creates and repairs the private environment in `.venv`."""

import fcntl
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from installer import packages, stamp, system_packages
from installer.checkout import Checkout
from installer.failure import CommandFailed, SetUpFailed, explain
from installer.programs import Programs
from installer.progress import Progress
from installer.work import Work

_NEW_ENOUGH = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
_ESSENTIALS = (
    "apscheduler, cryptography, hivemind, jinja2, keyring, msgspec, numpy, platformdirs, psutil, pynvml, "
    "pytorch_optimizer, requests, rich, safetensors, tokenizers, torch, transformers"
)
_NO_LIBRARY = re.compile(r"(\S+): cannot open shared object file")


def ensure(checkout: Checkout, parts: set[str], out: TextIO) -> None:
    """Make sure that the environment holds the project, its pinned packages and `parts`.

    A part is "screen" (what a window needs) or "development" (what the checks need). Prints nothing if all is there.
    Raises SetUpFailed with a sentence for the person.
    """
    if stamp.is_current(checkout, parts):
        return
    try:
        with _alone(checkout, out):
            if not stamp.is_current(checkout, parts):  # another set-up may have done it while we waited
                _set_up(checkout, parts | stamp.parts(checkout), out)
    except OSError as error:
        raise SetUpFailed(explain(str(error), "set up Idlehive", checkout.root)) from error


@contextmanager
def _alone(checkout: Checkout, out: TextIO) -> Iterator[None]:
    """Hold the lock of this checkout: two set-ups at once would spoil each other's work."""
    checkout.lock.parent.mkdir(exist_ok=True)
    with checkout.lock.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            out.write("Another set-up is running here; waiting for it to end.\n")
            out.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _set_up(checkout: Checkout, parts: set[str], out: TextIO) -> None:
    programs = Programs(checkout.log, checkout.root)
    try:
        with Progress(out, "Setting up Idlehive") as progress:
            work = Work(checkout, frozenset(parts), programs, progress)
            progress.stage("checking this system", 0.01)
            system_packages.provide(work.parts, programs.run, progress.note)
            _make(work)
            progress.step("done", 1.0)
            stamp.write(checkout, parts)
            checkout.incomplete.unlink()
    except CommandFailed as failed:
        sentence = explain(failed.output, "set up Idlehive", checkout.root)
        raise SetUpFailed(f"{sentence}\nDetails: {checkout.log}") from failed


def _make(work: Work) -> None:
    """Fill the existing environment; if there is none, or it is damaged, start with an empty one."""
    is_new = not _is_sound(work)
    if is_new:
        _create(work)
    _fill(work)
    try:
        _try_out(work)
    except CommandFailed:
        if is_new:
            raise
        work.progress.note("The environment is damaged; creating it again.")
        _create(work)
        _fill(work)
        _try_out(work)


def _is_sound(work: Work) -> bool:
    """Whether a complete environment exists, with a Python that runs and is new enough."""
    if work.checkout.incomplete.exists():
        return False
    try:
        work.programs.run([str(work.checkout.python), "-c", _NEW_ENOUGH])
    except CommandFailed:
        return False
    return True


def _create(work: Work) -> None:
    work.progress.stage("making a Python environment", 0.03)
    interpreter = Path(sys.executable)
    if interpreter.is_relative_to(work.checkout.venv):  # it is deleted next
        interpreter = interpreter.resolve()
    if work.checkout.venv.exists():
        shutil.rmtree(work.checkout.venv)
    work.programs.run([str(interpreter), "-m", "venv", str(work.checkout.venv)])


def _fill(work: Work) -> None:
    stamp.remove(work.checkout)
    work.checkout.incomplete.touch()
    packages.install(work)


def _try_out(work: Work) -> None:
    """Import the essential packages. A system library that is missing is only reported."""
    work.progress.stage("testing the environment", 0.95)
    modules = _ESSENTIALS + (", PySide6.QtWidgets" if "screen" in work.parts else "")
    try:
        work.programs.run([str(work.checkout.python), "-c", f"import {modules}"])
    except CommandFailed as failed:
        library = _NO_LIBRARY.search(failed.output)
        if not library:
            raise
        work.progress.note(f"{library[1]} is missing on this system; the window cannot open until it is installed.")

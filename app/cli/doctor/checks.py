"""The checks of `doctor`: one function each, with one finding. None of them changes anything."""

import os
import platform
import shutil
import subprocess
import sys
import threading
from importlib import metadata
from pathlib import Path
from typing import Literal

import msgspec

from app.cli import window
from app.cli.console.connection import running
from app.text.formats import amounts, numbers
from app.text.i18n import N_, tr, translate
from app.text.installation import compute_runtime
from app.text.messages import sentence
from core.api.errors import IdlehiveError
from core.api.installation.compute_runtime import ComputeRuntime
from core.api.protocol import GetSnapshot
from core.api.snapshot import Snapshot
from core.client import keyrings
from core.client.installation import package, version
from core.client.profile import Profile

Level = Literal["ok", "warn", "problem"]

_NEEDED = ("msgspec", "keyring")
_TO_TRAIN = ("torch", "hivemind", "transformers", "tokenizers", "safetensors")
"""In a package, the compute runtime has them."""
_LITTLE_SPACE = 5 * 10**9
TIMEOUT = 10.0
_IN_A_FILE = N_("Invites would be kept in a file that only you can read.")
_TRAY = """
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
application = QApplication([])
print(QSystemTrayIcon.isSystemTrayAvailable())
"""


class Finding(msgspec.Struct, frozen=True):
    name: str
    level: Level
    text: str
    advice: str = ""
    """What to do; empty if nothing."""


def examine(profile: Profile) -> list[Finding]:
    """All findings; each check needs only what the checks before it cover."""
    snapshot, of_the_engine = engine(profile)
    of_the_profile = profile_folder(profile), disk(profile), of_the_engine
    compute = [] if package() is None or snapshot is None else [libraries(snapshot.compute)]
    return [python(), packages(), *of_the_profile, *compute, graphics(), secrets(), screen()]


def python() -> Finding:
    machine = f"{platform.system()} {platform.machine()}"
    threads = amounts.threads(os.cpu_count() or 1)
    known = tr(
        "{version} on {machine}, {threads}.", version=platform.python_version(), machine=machine, threads=threads
    )
    return Finding("python", "ok", known)


def packages() -> Finding:
    """The versions that are installed; nothing is imported, which would take seconds."""
    needed = _NEEDED if package() is not None else (*_TO_TRAIN, *_NEEDED)
    found = {"idlehive": version(), **{name: _version(name) for name in needed}}
    text = ", ".join(f"{name} {number}" for name, number in found.items() if number) + "."
    missing = [name for name in needed if not found[name]]
    if missing:
        lack = tr("Missing: {names}. There: {others}", names=", ".join(missing), others=text)
        return Finding("packages", "problem", lack, tr("Install Idlehive again."))
    return Finding("packages", "ok", text)


def profile_folder(profile: Profile) -> Finding:
    existing = _existing(profile.path)
    if not os.access(existing, os.W_OK | os.X_OK):
        advice = tr("Change its owner, or name another folder in IDLEHIVE_HOME.")
        return Finding("profile", "problem", tr("{path} cannot be written.", path=profile.path), advice)
    not_there = "" if profile.path.exists() else " " + tr("(not created yet)")
    return Finding("profile", "ok", f"{profile.path}{not_there}.")


def disk(profile: Profile) -> Finding:
    free = shutil.disk_usage(_existing(profile.path)).free
    text = tr("{size} free for the profile.", size=numbers.size(free))
    if free < _LITTLE_SPACE:
        return Finding("disk", "warn", text, tr("Projects need some gigabytes: free some, or lower `cache_size`."))
    return Finding("disk", "ok", text)


def engine(profile: Profile) -> tuple[Snapshot | None, Finding]:
    """What it shows, if it runs and answers; and the finding."""
    try:
        with running(profile) as client:
            snapshot = client.request(GetSnapshot(), Snapshot, timeout=TIMEOUT) if client else None
    except IdlehiveError as error:
        advice = tr("`idlehive log` may say why; ending the process helps.")
        return None, Finding("engine", "problem", sentence(error.message), advice)
    if snapshot is None:
        return None, Finding("engine", "ok", tr("Not running; it is started when needed."))
    running_as = tr("Running, process {pid}: {state}.", pid=snapshot.engine_pid, state=snapshot.state)
    return snapshot, Finding("engine", "ok", running_as)


def libraries(runtime: ComputeRuntime) -> Finding:
    """The compute runtime of a package."""
    text = compute_runtime.describe(runtime)
    if runtime.step or (runtime.ready and not runtime.failure):
        return Finding("libraries", "ok", text)
    if runtime.failure:
        return Finding("libraries", "problem", text, tr("`idlehive runtime repair` installs them again."))
    return Finding("libraries", "warn", text, tr("`idlehive runtime install` installs them."))


def graphics() -> Finding:
    """The NVIDIA driver, asked through NVML, which needs no rights."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        text = tr("No NVIDIA graphics card can be asked: {detail}.", detail=error)
        return Finding("graphics", "warn", text, tr("The processor is used; projects may ask for a graphics card."))
    try:
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
        cards = [_card(number) for number in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError as error:
        text = tr("The NVIDIA driver fails: {detail}.", detail=error)
        return Finding("graphics", "problem", text, tr("Restart, or install it again."))
    finally:
        pynvml.nvmlShutdown()
    if not cards:
        no_card = tr("NVIDIA driver {version}, but no card.", version=driver)
        return Finding("graphics", "warn", no_card, tr("The processor is used."))
    return Finding("graphics", "ok", tr("NVIDIA driver {version}: {cards}.", version=driver, cards="; ".join(cards)))


def secrets() -> Finding:
    """Whether the system keeps secrets. Some keyrings never answer, so a thread asks, with a time limit."""
    answers: list[Finding] = []
    thread = threading.Thread(target=lambda: answers.append(_keyring()), daemon=True)
    thread.start()
    thread.join(TIMEOUT)
    silent = Finding("keyring", "warn", tr("The keyring does not answer."), translate(_IN_A_FILE))
    return answers[0] if answers else silent


def screen() -> Finding:
    """Display and tray, checked in a separate process, because Qt aborts a process without a display."""
    if not window.has_display(os.environ):
        return Finding("display", "warn", tr("No display here."), tr("`idlehive contribute` works without one."))
    try:
        asked = subprocess.run(
            [sys.executable, "-P", "-c", _TRAY], capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        advice = tr("`idlehive contribute` works without it.")
        return Finding("display", "problem", tr("The display does not answer."), advice)
    if asked.returncode:
        last = next(reversed(asked.stderr.strip().splitlines()), f"code {asked.returncode}")
        text = tr("The window cannot open: {detail}", detail=last)
        return Finding("display", "problem", text, tr("Install the packages it names."))
    if asked.stdout.strip() != "True":
        advice = tr("Closing the window minimises it instead.")
        return Finding("display", "warn", tr("A display, but no tray."), advice)
    return Finding("display", "ok", tr("A display and a tray."))


def _card(number: int) -> str:
    import pynvml as nvml

    handle = nvml.nvmlDeviceGetHandleByIndex(number)
    return f"{_text(nvml.nvmlDeviceGetName(handle))}, {numbers.size(nvml.nvmlDeviceGetMemoryInfo(handle).total)}"


def _keyring() -> Finding:
    def name_of(keyring: keyrings.Keyring) -> str:
        keyring.get_password(keyrings.SERVICE, "doctor")
        return keyring.name

    try:
        return Finding("keyring", "ok", tr("Invites are kept in {keyring}.", keyring=keyrings.with_keyring(name_of)))
    except keyrings.NoKeyring as error:
        return Finding("keyring", "warn", sentence(error.message), translate(_IN_A_FILE))


def _existing(path: Path) -> Path:
    """The folder itself or the nearest one above it that exists."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _text(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value

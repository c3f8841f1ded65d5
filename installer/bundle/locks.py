"""The locks of what packages carry and of what the compute runtime is made of: exact versions, with hashes.

`app.lock` is what the packages carry. `resources/runtime/cpu.lock` and `cuda.lock` are what is installed beside it into
the profile: the trainer's libraries with the CPU or the CUDA build of torch, without what `app.lock` has already.
"""

import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from installer import pip_settings
from installer.bundle.target import LINUX, MACOS, PYTHONS, WINDOWS, Target
from installer.checkout import Checkout
from installer.failure import CommandFailed, SetUpFailed, explain, is_missing_package
from installer.packages import UV
from installer.programs import Programs
from installer.torch_build import find_local_wheel

APP = (
    "PySide6-Essentials", "apscheduler", "cryptography", "jeepney", "keyring", "msgspec", "nvidia-ml-py",
    "platformdirs", "psutil", "pysocks", "requests", "rich", "tzlocal",
)  # fmt: skip
"""What app and engine import; the other dependencies are the trainer's."""
_HEADER = (
    "# Written by `python3 -m installer lock`: exact versions, with the hashes of all files that may be installed.\n"
)
_NO_DOWNLOADS = {"UV_PYTHON_DOWNLOADS": "never"}  # metadata of sources is read with the checkout's Python
_PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


@dataclass
class Pin:
    """A package of a lock; `pythons` are those that need it."""

    version: str
    hashes: set[str] = field(default_factory=set)
    pythons: list[str] = field(default_factory=list)
    is_source: bool = False
    """It is published only as source: packages carry it built, so that nothing is built on a volunteer's machine."""


@dataclass(frozen=True)
class Locks:
    """The paths of the locks in a checkout."""

    app: Path
    cpu: Path
    cuda: Path
    macos_app: Path
    macos_runtime: Path
    windows_app: Path
    """Sessions run in WSL, with what the portable build for Linux installs."""


def locks(checkout: Checkout) -> Locks:
    here, runtime = Path(__file__).parent, checkout.root / "resources" / "runtime"
    others = (here / "macos" / "app.lock", here / "macos" / "runtime.lock", here / "windows" / "app.lock")
    return Locks(here / "app.lock", runtime / "cpu.lock", runtime / "cuda.lock", *others)


def pinned(text: str) -> dict[str, str]:
    """The versions in a lock, by package."""
    return dict(_PIN.findall(text))


def renew(checkout: Checkout) -> None:
    """Resolve all three locks and write them. Raises SetUpFailed."""
    resolver = Resolver(checkout)
    app = resolver.resolve([*_pins(checkout, APP), UV], {})
    cpu = resolver.resolve(_trainer(checkout, "+cpu"), resolver.cpu_sources())
    cuda = resolver.resolve(_trainer(checkout, ""), {})
    app |= {name: pin for name, pin in {**cpu, **cuda}.items() if pin.is_source}
    paths = locks(checkout)
    paths.app.write_text(_text(app), encoding="utf-8")
    paths.cpu.parent.mkdir(exist_ok=True)
    for path, pins, sources in ((paths.cpu, cpu, resolver.cpu_sources()), (paths.cuda, cuda, {})):
        rest = {name: pin for name, pin in pins.items() if name not in app}
        path.write_text(_text(rest), encoding="utf-8")
        facts = f"# For Python {', '.join(_pythons(rest))}.\n# Unpacked: {resolver.unpacked(path, sources)} bytes.\n"
        path.write_text(_text(rest, facts), encoding="utf-8")


def renew_others(checkout: Checkout) -> None:
    """Resolve and write the locks of macOS and Windows. Raises SetUpFailed."""
    paths, macos = locks(checkout), Resolver(checkout, MACOS)
    app, runtime = macos.resolve([*_pins(checkout, APP), UV], {}), macos.resolve(_trainer(checkout, ""), {})
    app |= {name: pin for name, pin in runtime.items() if pin.is_source}
    rest = {name: pin for name, pin in runtime.items() if name not in app}
    paths.macos_app.write_text(_text(app), encoding="utf-8")
    paths.macos_runtime.write_text(_text(rest), encoding="utf-8")
    facts = f"# For Python {', '.join(MACOS.pythons)}.\n# Unpacked: {macos.unpacked(paths.macos_runtime, {})} bytes.\n"
    paths.macos_runtime.write_text(_text(rest, facts), encoding="utf-8")
    windows = Resolver(checkout, WINDOWS).resolve([*_pins(checkout, APP), UV], {})
    paths.windows_app.write_text(_text(windows), encoding="utf-8")


class Resolver:
    """Asks uv which versions and files a set of requirements means."""

    def __init__(self, checkout: Checkout, target: Target = LINUX) -> None:
        self._checkout = checkout
        self._target = target
        self._programs = Programs(checkout.log, checkout.root)

    def cpu_sources(self) -> dict[str, str]:
        """Where uv finds the CPU build of torch: in a folder of pip's settings, or in torch's own index."""
        listing = self._programs.run([str(self._checkout.python), "-m", "pip", "config", "list"])
        variables = pip_settings.for_uv(pip_settings.parse(listing), os.environ)
        folders = pip_settings.link_folders(pip_settings.parse(listing))
        if find_local_wheel(self._checkout.torch_version, folders, self._checkout.python_tag):
            return {"UV_FIND_LINKS": variables.get("UV_FIND_LINKS", "")}
        return {"UV_TORCH_BACKEND": "cpu"}

    def resolve(self, wanted: Iterable[str], sources: Mapping[str, str]) -> dict[str, Pin]:
        """The pins for each Python for which all `wanted` packages have builds; fails where none has."""
        pins: dict[str, Pin] = {}
        failure = None
        for python in self._target.pythons:
            try:
                _add(pins, python, self._resolve_for(python, wanted, sources))
            except CommandFailed as failed:
                failure = SetUpFailed(explain(failed.output, "resolve the packages", self._checkout.root))
                if not is_missing_package(failed.output):
                    raise failure from failed
        if failure and not pins:
            raise failure
        return pins

    def unpacked(self, lock: Path, sources: Mapping[str, str]) -> int:
        """Bytes of all files of a lock, which are really installed into a temporary folder for it."""
        with tempfile.TemporaryDirectory(dir=self._checkout.log.parent) as folder:
            place = [] if self._target == LINUX else self._place(self._target.pythons[0])
            python = ["--python", str(self._checkout.python), *place, "--target", folder]
            self._uv(["install", *python, "--no-deps", "--require-hashes", "-r", str(lock)], sources)
            return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())

    def _resolve_for(self, python: str, wanted: Iterable[str], sources: Mapping[str, str]) -> list[dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            requirements, lock = Path(folder) / "requirements.in", Path(folder) / "pylock.toml"
            requirements.write_text("\n".join(wanted), encoding="utf-8")
            place = self._place(python)
            constraints = ["-c", str(self._checkout.constraints)]
            self._uv(
                ["compile", *place, *constraints, "--format", "pylock.toml", "-o", str(lock), str(requirements)],
                sources,
            )
            return list(tomllib.loads(lock.read_text(encoding="utf-8"))["packages"])

    def _place(self, python: str) -> list[str]:
        return ["--python-version", python, "--python-platform", self._target.platform]

    def _uv(self, arguments: list[str], sources: Mapping[str, str]) -> None:
        environment = {**_NO_DOWNLOADS, **self._target.variables, **sources}
        self._programs.run([str(self._checkout.venv / "bin" / "uv"), "pip", *arguments], environment)


def _pins(checkout: Checkout, names: Iterable[str]) -> list[str]:
    """The project's dependencies of these names, with their versions."""
    wanted = tuple(f"{name}==" for name in names)
    return [pin for pin in checkout.pyproject["project"]["dependencies"] if pin.startswith(wanted)]


def _trainer(checkout: Checkout, torch_build: str) -> list[str]:
    pins = [pin for pin in checkout.pyproject["project"]["dependencies"] if not pin.startswith("PySide6")]
    return [f"{pin}{torch_build}" if pin.startswith("torch==") else pin for pin in pins]


def _add(pins: dict[str, Pin], python: str, packages: list[dict[str, Any]]) -> None:
    for package in packages:
        pin = pins.setdefault(package["name"], Pin(package["version"], is_source="wheels" not in package))
        if pin.version != package["version"]:
            raise SetUpFailed(f"{package['name']} has not one version for all Pythons: pin it in requirements.lock.")
        pin.hashes |= {file["hashes"]["sha256"] for file in package.get("wheels", [package.get("sdist")])}
        pin.pythons.append(python)


def _pythons(pins: Mapping[str, Pin]) -> list[str]:
    return [python for python in PYTHONS if any(python in pin.pythons for pin in pins.values())]


def _text(pins: Mapping[str, Pin], facts: str = "") -> str:
    everywhere = _pythons(pins)
    return _HEADER + facts + "".join(_lines(name, pins[name], everywhere) for name in sorted(pins))


def _lines(name: str, pin: Pin, everywhere: list[str]) -> str:
    some = " or ".join(f"python_version == '{python}'" for python in pin.pythons)
    marker = "" if pin.pythons == everywhere else f" ; {some}"
    return (
        f"{name}=={pin.version}{marker}"
        + "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(pin.hashes))
        + "\n"
    )

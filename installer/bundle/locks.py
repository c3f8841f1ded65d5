"""The locks of what packages carry and of what the compute runtime is made of: exact versions, with hashes.

`app.lock` is what the packages carry. `resources/runtime/cpu.lock` and `cuda.lock` are what is installed beside it into
the profile: the trainer's libraries with the CPU or the CUDA build of torch, without what `app.lock` has already.
"""

import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from installer import pip_settings
from installer.bundle import python
from installer.bundle.target import LINUX, MACOS, WINDOWS, Target
from installer.checkout import Checkout
from installer.failure import CommandFailed, SetUpFailed, explain
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


@dataclass(frozen=True)
class Pin:
    """A package of a lock."""

    version: str
    hashes: frozenset[str]
    is_source: bool
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
    """Resolve all four locks of the packages for Linux and write them. Raises SetUpFailed."""
    python.renew(checkout)
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
        _write_runtime(path, rest, resolver, sources)


def renew_others(checkout: Checkout) -> None:
    """Resolve and write the locks of macOS and Windows. Raises SetUpFailed."""
    paths, macos = locks(checkout), Resolver(checkout, MACOS)
    app, runtime = macos.resolve([*_pins(checkout, APP), UV], {}), macos.resolve(_trainer(checkout, ""), {})
    app |= {name: pin for name, pin in runtime.items() if pin.is_source}
    rest = {name: pin for name, pin in runtime.items() if name not in app}
    paths.macos_app.write_text(_text(app), encoding="utf-8")
    _write_runtime(paths.macos_runtime, rest, macos, {})
    windows = Resolver(checkout, WINDOWS).resolve([*_pins(checkout, APP), UV], {})
    paths.windows_app.write_text(_text(windows), encoding="utf-8")


def _write_runtime(path: Path, pins: Mapping[str, Pin], resolver: "Resolver", sources: Mapping[str, str]) -> None:
    path.write_text(_text(pins), encoding="utf-8")
    facts = f"# For Python {resolver.target.python}.\n# Unpacked: {resolver.unpacked(path, sources)} bytes.\n"
    path.write_text(_text(pins, facts), encoding="utf-8")


class Resolver:
    """Asks uv which versions and files a set of requirements means."""

    def __init__(self, checkout: Checkout, target: Target = LINUX) -> None:
        self._checkout = checkout
        self.target = target
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
        """The pins of all `wanted` packages and of what they need. Raises SetUpFailed."""
        try:
            packages = self._resolve(wanted, sources)
        except CommandFailed as failed:
            raise SetUpFailed(explain(failed.output, "resolve the packages", self._checkout.root)) from failed
        return {package["name"]: _pin(package) for package in packages}

    def unpacked(self, lock: Path, sources: Mapping[str, str]) -> int:
        """Bytes of all files of a lock, which are really installed into a temporary folder for it."""
        with tempfile.TemporaryDirectory(dir=self._checkout.log.parent) as folder:
            place = [] if self.target == LINUX else self._place()
            python = ["--python", str(self._checkout.python), *place, "--target", folder]
            self._uv(["install", *python, "--no-deps", "--require-hashes", "-r", str(lock)], sources)
            return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())

    def _resolve(self, wanted: Iterable[str], sources: Mapping[str, str]) -> list[dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            requirements, lock = Path(folder) / "requirements.in", Path(folder) / "pylock.toml"
            requirements.write_text("\n".join(wanted), encoding="utf-8")
            place = self._place()
            constraints = ["-c", str(self._checkout.constraints)]
            self._uv(
                ["compile", *place, *constraints, "--format", "pylock.toml", "-o", str(lock), str(requirements)],
                sources,
            )
            return list(tomllib.loads(lock.read_text(encoding="utf-8"))["packages"])

    def _place(self) -> list[str]:
        return ["--python-version", self.target.python, "--python-platform", self.target.platform]

    def _uv(self, arguments: list[str], sources: Mapping[str, str]) -> None:
        environment = {**_NO_DOWNLOADS, **self.target.variables, **sources}
        self._programs.run([str(self._checkout.venv / "bin" / "uv"), "pip", *arguments], environment)


def _pins(checkout: Checkout, names: Iterable[str]) -> list[str]:
    """The project's dependencies of these names, with their versions."""
    wanted = tuple(f"{name}==" for name in names)
    return [pin for pin in checkout.pyproject["project"]["dependencies"] if pin.startswith(wanted)]


def _trainer(checkout: Checkout, torch_build: str) -> list[str]:
    pins = [pin for pin in checkout.pyproject["project"]["dependencies"] if not pin.startswith("PySide6")]
    return [f"{pin}{torch_build}" if pin.startswith("torch==") else pin for pin in pins]


def _pin(package: Mapping[str, Any]) -> Pin:
    files = package.get("wheels", [package.get("sdist")])
    return Pin(package["version"], frozenset(file["hashes"]["sha256"] for file in files), "wheels" not in package)


def _text(pins: Mapping[str, Pin], facts: str = "") -> str:
    return _HEADER + facts + "".join(_lines(name, pins[name]) for name in sorted(pins))


def _lines(name: str, pin: Pin) -> str:
    hashes = "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(pin.hashes))
    return f"{name}=={pin.version}{hashes}\n"

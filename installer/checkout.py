"""The paths that set-up uses in a checkout."""

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Checkout:
    """A working copy of the project, and the paths that set-up reads and writes in it."""

    root: Path

    @property
    def venv(self) -> Path:
        """The private environment: safe to delete, the next run makes it again."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def incomplete(self) -> Path:
        """Exists while packages are installed, so that an interrupted set-up is noticed."""
        return self.venv / "idlehive-incomplete"

    @property
    def constraints(self) -> Path:
        return self.root / "requirements.lock"

    @property
    def log(self) -> Path:
        return self.root / ".setup" / "setup.log"

    @property
    def lock(self) -> Path:
        """Held during set-up. It lies outside the environment, which a repair deletes."""
        return self.root / ".setup" / "lock"

    @cached_property
    def pyproject(self) -> dict[str, Any]:
        return tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))

    @property
    def development_requirements(self) -> list[str]:
        return list(self.pyproject["dependency-groups"]["dev"])

    @property
    def torch_version(self) -> str:
        pins = [pin for pin in self.pyproject["project"]["dependencies"] if pin.startswith("torch==")]
        return str(pins[0].removeprefix("torch=="))

    @property
    def site_packages(self) -> Path:
        """The folder of installed packages; it need not exist in an environment that is not whole."""
        found = self.venv.glob("lib/python3*/site-packages")
        return next(found, self.venv / "lib" / "python3" / "site-packages")

    @property
    def python_tag(self) -> str:
        """The tag that wheels for the environment's Python carry, such as "cp311"."""
        return self.site_packages.parent.name.replace("python", "cp").replace(".", "")

    def installed_version(self, package: str) -> str | None:
        """The version of an installed package, read from the name of its metadata folder."""
        for entry in self.site_packages.glob(f"{package}-*.dist-info"):
            return entry.name.removeprefix(f"{package}-").removesuffix(".dist-info")
        return None


def this_checkout() -> Checkout:
    """The checkout that this installer is part of."""
    return Checkout(Path(__file__).resolve().parent.parent)

"""A file in the environment that records what it was made from, so that the next run can skip set-up."""

import hashlib
import json
from collections.abc import Iterable

from installer.checkout import Checkout
from installer.torch_build import has_nvidia_driver

_NAME = "idlehive-stamp.json"
_SECTIONS = ("build-system", "project", "dependency-groups")  # the rest of pyproject.toml is about tools


def fingerprint(constraints: str, pyproject: dict[str, object], place: str, nvidia_driver: bool) -> str:
    """A digest of everything that determines the environment; `place` is its path, which its scripts contain."""
    declared = {name: pyproject.get(name) for name in _SECTIONS}
    facts = json.dumps([constraints, declared, place, nvidia_driver], sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()


def is_current(checkout: Checkout, wanted: Iterable[str]) -> bool:
    """Whether the environment holds the `wanted` parts as the checkout declares them now, with nothing missing."""
    try:
        stamp = json.loads((checkout.venv / _NAME).read_text(encoding="utf-8"))
        return (
            stamp["fingerprint"] == _fingerprint(checkout)
            and set(wanted) <= set(stamp["parts"])
            and checkout.python.exists()
            and set(stamp["entries"]) <= set(_entries(checkout))
        )
    except (OSError, ValueError, KeyError, TypeError):  # no valid stamp: create it again
        return False


def parts(checkout: Checkout) -> set[str]:
    """The parts that an earlier set-up installed, which later ones keep up to date."""
    try:
        return set(json.loads((checkout.venv / _NAME).read_text(encoding="utf-8"))["parts"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def write(checkout: Checkout, made: Iterable[str]) -> None:
    stamp = {"fingerprint": _fingerprint(checkout), "parts": sorted(made), "entries": _entries(checkout)}
    (checkout.venv / _NAME).write_text(json.dumps(stamp), encoding="utf-8")


def remove(checkout: Checkout) -> None:
    (checkout.venv / _NAME).unlink(missing_ok=True)


def _fingerprint(checkout: Checkout) -> str:
    constraints = checkout.constraints.read_text(encoding="utf-8")
    return fingerprint(constraints, checkout.pyproject, str(checkout.venv), has_nvidia_driver())


def _entries(checkout: Checkout) -> list[str]:
    """Names in the folders of programs and packages, without caches."""
    names = [entry.name for folder in (checkout.venv / "bin", checkout.site_packages) for entry in folder.iterdir()]
    return sorted(name for name in names if name != "__pycache__")

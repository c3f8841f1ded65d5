"""Versions and licences of the installed packages, read without importing them."""

import platform
import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata, requires
from typing import NamedTuple

from PySide6.QtCore import qVersion

from core.client.installation import version

_LONGEST_LICENCE = 40


class Component(NamedTuple):
    name: str
    version: str
    licence: str


def versions() -> list[tuple[str, str]]:
    """The facts that a problem report needs."""
    return [
        ("Idlehive", version()),
        ("Python", platform.python_version()),
        ("Qt", qVersion()),
        (platform.system(), platform.release()),
    ]


def components() -> list[Component]:
    """The libraries that Idlehive requires, by name."""
    try:
        wanted = requires("idlehive") or []
    except PackageNotFoundError:
        return []
    installed = [about for name in map(_name, wanted) if (about := _metadata(name))]
    found = [Component(about["Name"], about["Version"], _licence(about)) for about in installed]
    return sorted(found, key=lambda component: component.name.casefold())


def _metadata(name: str) -> PackageMetadata | None:
    try:
        return metadata(name)
    except PackageNotFoundError:
        return None


def _name(requirement: str) -> str:
    return re.split(r"[\s=<>!~;\[(]", requirement, maxsplit=1)[0]


def _licence(about: PackageMetadata) -> str:
    """The name of the licence; some packages have the whole text in its field."""
    named = _one(about, "License-Expression") or _one(about, "License")
    if named and len(named) <= _LONGEST_LICENCE and "\n" not in named:
        return named
    kinds: list[str] = [kind for kind in about.get_all("Classifier") or [] if kind.startswith("License ::")]
    if kinds:
        return kinds[0].rpartition(" :: ")[2]
    return named.split("\n")[0]


def _one(about: PackageMetadata, field: str) -> str:
    values: list[str] = about.get_all(field) or []
    return next(iter(values), "")

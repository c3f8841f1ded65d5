"""Keeps modules from loading that a library imports and nobody here uses.

A deferred module is there, with its path, so that its submodules can be imported. It loads itself when something is
asked of it that it has not been given: nothing is lost, only later.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_ASKED_OF_ALL = ("__path__", "__wrapped__")
"""The import system asks whether a module is a package, and `inspect` what it wraps."""


class Deferred(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name in _ASKED_OF_ALL or self.__spec__ is None or self.__spec__.loader is None:
            raise AttributeError(name)
        if sys.modules[self.__name__] is self:
            if self.__spec__.submodule_search_locations and find_spec(f"{self.__name__}.{name}") is not None:
                return import_module(f"{self.__name__}.{name}")
            self.__class__ = ModuleType  # type: ignore[assignment]  # as importlib.util.LazyLoader does
            self.__spec__.loader.exec_module(self)
            if sys.modules[self.__name__] is not self:
                # Like transformers, it has put another object into its place: whoever has this one asks that one.
                self.__class__ = Deferred
        return getattr(sys.modules[self.__name__], name)


def defer(name: str, calls: tuple[str, ...] = (), **given: object) -> None:
    """Load the module `name` when it is used. Does nothing if it is loaded, or not installed.

    Args:
        calls: functions of it that others import by name; a call loads the module.
        given: what it has before it is loaded.
    """
    if name in sys.modules or (spec := find_spec(name)) is None:
        return
    module = module_from_spec(spec)
    module.__class__ = Deferred
    vars(module).update(given, **{call: _later(module, call) for call in calls})
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)


def _later(module: ModuleType, name: str) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        # Loaded meanwhile, the module has its own.
        if vars(module).get(name) is call:
            del vars(module)[name]
        return getattr(module, name)(*arguments, **options)

    return call

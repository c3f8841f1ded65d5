"""Modules that load when they are used."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.system.deferred_imports import Deferred, defer


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with a module `part`; a file tells that the package was loaded."""
    package = tmp_path / "deferred_library"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from pathlib import Path\n"
        "loaded = Path(__file__).with_name('loaded')\n"
        "assert not loaded.exists(), 'a second time'\n"
        "loaded.touch()\n"
        "answer = 42\n"
        "def ask(question): return question, answer\n"
    )
    (package / "part.py").write_text("import deferred_library\nname = 'part'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package / "loaded"
    for name in [name for name in sys.modules if name.startswith("deferred_library")]:
        del sys.modules[name]


def test_a_deferred_module_loads_once_something_is_asked_of_it(library: Path) -> None:
    defer("deferred_library")
    import deferred_library  # type: ignore[import-not-found]

    assert not library.exists()
    assert deferred_library.answer == 42
    assert library.exists()
    assert deferred_library is sys.modules["deferred_library"]
    assert not isinstance(deferred_library, Deferred)
    with pytest.raises(AttributeError, match="question"):
        _ = deferred_library.question


def test_its_submodules_are_imported_without_it(library: Path) -> None:
    defer("deferred_library")
    from deferred_library import part

    assert part.name == "part"
    assert not library.exists()


def test_what_it_was_given_it_has_without_loading_and_its_own_afterwards(library: Path) -> None:
    defer("deferred_library", answer=7)
    import deferred_library

    assert deferred_library.answer == 7
    assert not library.exists()
    assert deferred_library.ask("?") == ("?", 42)
    assert deferred_library.answer == 42


def test_a_call_of_a_function_that_was_imported_by_name_loads_it(library: Path) -> None:
    defer("deferred_library", calls=("ask",))
    from deferred_library import ask

    assert not library.exists()
    assert ask("?") == ("?", 42)
    assert library.exists()
    assert ask("!") == ("!", 42)


def test_a_submodule_can_be_deferred_alone(library: Path) -> None:
    import deferred_library

    defer("deferred_library.part")
    assert isinstance(deferred_library.part, Deferred)
    from deferred_library.part import name  # type: ignore[import-not-found]

    assert (name, library.exists()) == ("part", True)


def test_a_module_that_puts_another_one_into_its_place_is_asked_there(library: Path) -> None:
    package = library.with_name("__init__.py")
    package.write_text(
        package.read_text() + "import sys, types\n"
        "other = types.ModuleType(__name__)\n"
        "other.__path__, other.colour = __path__, 'blue'\n"
        "sys.modules[__name__] = other\n"
    )
    defer("deferred_library")
    import deferred_library

    assert deferred_library.colour == "blue"
    assert deferred_library.colour == "blue"
    from deferred_library import colour

    assert colour == "blue"


def test_what_is_loaded_or_not_installed_is_left_alone() -> None:
    defer("json")
    assert not isinstance(sys.modules["json"], Deferred)
    defer("no_such_library")
    assert "no_such_library" not in sys.modules

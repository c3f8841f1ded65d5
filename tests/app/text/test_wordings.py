"""Every message that the program makes has words, with exactly the parameters that it is given."""

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest

from app.text import history
from app.text.messages import WRITERS
from app.text.wordings import WORDINGS
from app.text.wordings.reasons import REASONS
from core.api.reasons import Kind

ROOT = Path(__file__).parents[3]
_KIND_FORM = re.compile(r"[a-z_]+")
FOR_THE_LOG = {"BadState", "ForeignState", "RoundFailed", "Interrupted"}
"""Errors that are caught where they are raised; only a log shows them."""
LIVENESS = {"dht_ended", "gradient_averager_ended", "state_averager_ended", "daemon_ended"}
"""What `core.swarm.liveness` names the processes it watches."""


class Made(NamedTuple):
    """A message where the code makes it. `params` is None where they are put together at run time."""

    kind: str
    params: frozenset[str] | None
    where: str


@cache
def messages() -> tuple[Made, ...]:
    """Every message or error of core and app whose kind stands in the code."""
    trees = {file: ast.parse(file.read_text()) for part in ("core", "app") for file in (ROOT / part).rglob("*.py")}
    errors = _errors([node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)])
    calls = (
        (file, node)
        for file, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.args and _name(node.func) in {"Message", *errors}
    )
    return tuple(made for file, call in calls for made in _made(call, f"{file.relative_to(ROOT)}:{call.lineno}"))


def _errors(classes: list[ast.ClassDef]) -> set[str]:
    found = {"IdlehiveError"}
    while more := {each.name for each in classes if found & set(map(_name, each.bases))} - found:
        found |= more
    return found - FOR_THE_LOG


def _name(node: ast.AST) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _made(call: ast.Call, where: str) -> Iterator[Made]:
    first = call.args[0]
    for kind in (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,):
        if isinstance(kind, ast.Constant):
            yield Made(str(kind.value), _params(call), where)
        elif isinstance(kind, ast.JoinedStr):
            yield Made(ast.unparse(kind), None, where)


def _params(call: ast.Call) -> frozenset[str] | None:
    if _name(call.func) != "Message":
        names = [
            keyword.arg for keyword in call.keywords if keyword.arg != "field" or "Manifest" not in _name(call.func)
        ]
        return None if None in names else frozenset(str(name) for name in names)
    if len(call.args) == 1:
        return frozenset()
    given = call.args[1]
    if not isinstance(given, ast.Dict) or not all(isinstance(key, ast.Constant) for key in given.keys):
        return None
    return frozenset(str(key.value) for key in given.keys if isinstance(key, ast.Constant))


def _keys(params: ast.expr) -> frozenset[str]:
    assert isinstance(params, ast.Dict), ast.unparse(params)
    return frozenset(str(key.value) for key in params.keys if isinstance(key, ast.Constant))


@cache
def reasons_sent() -> dict[str, set[frozenset[str]]]:
    """The kinds of reasons that rules yield, with their parameters."""
    found = defaultdict[str, set[frozenset[str]]](set)
    for file in (ROOT / "core" / "engine").rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef):
                for kind, params in _reasons_in(function):
                    found[kind].add(params)
    return found


def _reasons_in(function: ast.FunctionDef) -> Iterator[tuple[str, frozenset[str]]]:
    named: dict[str, frozenset[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "params":
            named[str(node.lineno)] = _keys(node.value)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Reason":
            given = next((word.value for word in node.keywords if word.arg == "params"), None)
            if isinstance(given, ast.Name):
                # The assignment that stands right before it.
                yield _kind(node), named[max((line for line in named if int(line) < node.lineno), key=int)]
            else:
                yield _kind(node), _keys(given) if given is not None else frozenset()


def _kind(reason: ast.Call) -> str:
    kind = reason.args[0]
    return str(kind.value) if isinstance(kind, ast.Constant) else Kind[ast.unparse(kind).removeprefix("Kind.")]


def placeholders(template: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name)


def test_a_kind_is_a_word_and_no_sentence() -> None:
    assert [made for made in messages() if not _KIND_FORM.fullmatch(made.kind)] == []


def test_a_detail_is_what_the_system_or_a_library_says_and_no_sentence_of_ours() -> None:
    """Core's own sentences would stay English in every language."""
    assert [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in (ROOT / "core").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and any(map(_is_sentence, _details(node)))
    ] == []


def _details(call: ast.Call) -> list[ast.expr]:
    """What a message says as its detail, and the text of an error that counts as the system's."""
    error = getattr(builtins, _name(call.func), None)
    texts = call.args if isinstance(error, type) and issubclass(error, OSError) else []
    return [*texts, *(keyword.value for keyword in call.keywords if keyword.arg == "detail")]


def _is_sentence(text: ast.expr) -> bool:
    if isinstance(text, ast.JoinedStr):
        return any(map(_is_sentence, text.values))
    return (
        isinstance(text, ast.Constant) and isinstance(text.value, str) and re.search(r"\w \w", text.value) is not None
    )


def test_every_kind_has_words() -> None:
    known = WORDINGS.keys() | history.ENDINGS.keys()
    assert [made for made in messages() if made.kind not in known] == []


def test_words_name_exactly_the_parameters_that_are_given() -> None:
    known = WORDINGS
    assert [
        (made, placeholders(known[made.kind]))
        for made in messages()
        if made.params is not None and made.kind in known and made.params != placeholders(known[made.kind])
    ] == []


def test_no_words_are_left_of_a_kind_that_is_gone() -> None:
    files = [file for part in ("core", "app") for file in (ROOT / part).rglob("*.py") if "wordings" not in file.parts]
    code = "".join(file.read_text() for file in files)
    assert {kind for kind in WORDINGS if f'"{kind}"' not in code} == set()


def test_no_kind_has_words_twice() -> None:
    kinds = [kind for table in WORDINGS.maps for kind in table]
    assert sorted({kind for kind in kinds if kinds.count(kind) > 1}) == []


def test_every_way_of_writing_a_parameter_is_known() -> None:
    used = {form for text in WORDINGS.values() for _, _, form, _ in Formatter().parse(text) if form}
    assert used <= set(WRITERS)


def test_the_reasons_that_rules_yield_are_those_that_have_words() -> None:
    assert reasons_sent().keys() == REASONS.keys()


@pytest.mark.parametrize("kind", REASONS)
def test_a_reason_is_worded_with_exactly_its_parameters(kind: str) -> None:
    assert reasons_sent()[kind] == {placeholders(REASONS[kind].sentence)}


def test_every_process_that_a_session_cannot_do_without_has_words() -> None:
    text = (ROOT / "core" / "swarm" / "liveness.py").read_text()
    assert {kind for kind in LIVENESS if f'"{kind}"' not in text or kind not in WORDINGS} == set()

"""Whatever core can send has words, and the words ask for what is sent: found in the code that sends it."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from app.text import history, reasons
from app.text.wordings import TABLES
from core.api.reasons import Kind

ROOT = Path(__file__).parents[3]
SENDERS = ("api", "client", "conditions", "engine", "learning", "store", "swarm", "trainer")
FOR_THE_LOG = {"BadState", "RoundFailed", "Interrupted"}
"""Errors that are caught where they are raised; an organiser's log shows them."""
LIVENESS = {"dht_ended", "gradient_averager_ended", "state_averager_ended", "p2p_daemon_ended"}
"""What `core.trainer.liveness` names the processes it watches."""


def errors() -> set[str]:
    """Names of the classes of errors that carry a message."""
    trees = [ast.parse(file.read_text()) for file in (ROOT / "core").rglob("*.py")]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {"IdlehiveError"}
    while more := {each.name for each in classes if found & {ast.unparse(base) for base in each.bases}} - found:
        found |= more
    return found - FOR_THE_LOG


def sent() -> dict[str, set[frozenset[str]]]:
    """The kinds that are sent as literals, each with the sets of parameters that it is sent with."""
    known, found = errors(), defaultdict[str, set[frozenset[str]]](set)
    for folder in SENDERS:
        for file in (ROOT / "core" / folder).rglob("*.py"):
            for kind, params in _in(ast.parse(file.read_text()), known):
                found[kind].add(params)
    return found


def _in(tree: ast.AST, known: set[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        kind = node.args[0]
        if not isinstance(kind, ast.Constant) or not isinstance(kind.value, str):
            continue
        if node.func.id == "Message":
            yield kind.value, _keys(node.args[1]) if len(node.args) > 1 else frozenset()
        elif node.func.id in known:
            names = {word.arg for word in node.keywords if word.arg}
            yield kind.value, frozenset(names - {"field"} if node.func.id == "ManifestError" else names)


def _keys(params: ast.expr) -> frozenset[str]:
    assert isinstance(params, ast.Dict), ast.unparse(params)
    return frozenset(str(key.value) for key in params.keys if isinstance(key, ast.Constant))


def reasons_sent() -> dict[Kind, set[frozenset[str]]]:
    """The kinds of reasons that rules yield, with their parameters."""
    found = defaultdict[Kind, set[frozenset[str]]](set)
    for file in (ROOT / "core" / "engine").rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef):
                for kind, params in _reasons_in(function):
                    found[kind].add(params)
    return found


def _reasons_in(function: ast.FunctionDef) -> Iterator[tuple[Kind, frozenset[str]]]:
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


def _kind(reason: ast.Call) -> Kind:
    return Kind[ast.unparse(reason.args[0]).removeprefix("Kind.")]


def fields(template: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name)


def words() -> dict[str, str]:
    return {kind: template for table in TABLES for kind, template in table().items()}


def test_every_message_that_core_can_send_has_words_with_its_parameters() -> None:
    known = words()
    assert {kind for kind in sent() if kind not in known} == set()
    wrong = {kind: params for kind, params in sent().items() if any(fields(known[kind]) - each for each in params)}
    assert wrong == {}


def test_no_words_are_left_of_a_kind_that_is_gone() -> None:
    code = "".join(file.read_text() for file in (ROOT / "core").rglob("*.py"))
    assert {kind for kind in words() if f'"{kind}"' not in code} == set()


def test_no_kind_is_worded_twice() -> None:
    kinds = [kind for table in TABLES for kind in table()]
    assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize("kind", Kind)
def test_every_reason_has_words_with_its_parameters(kind: Kind) -> None:
    (params,) = reasons_sent()[kind]
    assert fields(reasons.words()[kind].sentence) == params
    assert kind in history.known_reasons()


def test_every_process_that_a_session_cannot_do_without_has_words() -> None:
    text = (ROOT / "core" / "trainer" / "liveness.py").read_text()
    assert {kind for kind in LIVENESS if f'"{kind}": ' not in text or kind not in words()} == set()

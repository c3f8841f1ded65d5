"""What hostile web servers, manifests and front ends do to one volunteer: answers of the engine, and memory.

Usage: python -m benchmarks.engine_attacks SECONDS [ATTACK ...]

An engine that contributes, with a scripted trainer; for "too many layers" this process itself, which builds a model as
a trainer does. For each attack (all of them), the victim is asked ten times a second for SECONDS, in which the attack
is repeated, a hundred times a second at most; at the same time a victim of the same kind, in another process, is asked
without an attack. `none` is no attack on either. Printed are, without and with the attack, the answers per second, the
longest one and the peak of the memory (resident, MiB), and then how often the attack was tried, the longest try, the
requests that reached the server it was to reach, and the load.
"""

import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import psutil

from core.api.errors import IdlehiveError
from core.api.project.projects import AddProject, ProjectInfo
from core.client.profile import Profile
from core.learning.model import build_model
from tests.engine.server.wire import connected
from tests.fakes.http_server import FakeServer, answer, endless, serving
from tests.fakes.running_engine import RunningEngine
from tests.learning.small_project import small_manifest

_EVERY, _PAUSE, _MIB = 0.1, 0.01, 1 << 20
_LAYERS, _BRACKETS = 10**6, 100_000


@dataclass
class Victim:
    pid: int
    asked: Callable[[], object]
    attacked: Callable[[], object] = lambda: time.sleep(_EVERY)
    inner: FakeServer | None = None
    """That must not be reached."""


@dataclass
class Seen:
    """Of a while."""

    answers: int = 0
    longest: float = 0.0
    peak: int = 0
    """MiB."""
    tries: list[float] = field(default_factory=list)


@contextmanager
def engine_victim() -> Iterator[tuple[RunningEngine, Victim]]:
    folder = Path(tempfile.mkdtemp(prefix="hive"))
    engine = RunningEngine(Profile(folder / "home"), folder)
    try:
        engine.start().contribute()
        yield engine, Victim(engine.pid, engine.snapshot)
    finally:
        engine.clean_up()
        shutil.rmtree(folder)


@contextmanager
def an_engine_left_alone() -> Iterator[Victim]:
    with engine_victim() as (_engine, victim):
        yield victim


@contextmanager
def endless_redirect() -> Iterator[Victim]:
    with engine_victim() as (engine, victim), serving(endless(302, Location="other.json")) as server:
        victim.attacked = partial(_add, engine, server.url("manifest.json"))
        yield victim


@contextmanager
def redirect_inside() -> Iterator[Victim]:
    """To another server, at an address that nobody outside could reach."""
    with engine_victim() as (engine, victim), serving(answer(200, b"{}")) as inner:
        target = inner.url("secret").replace("127.0.0.1", "localhost")
        with serving(answer(302, location=target)) as server:
            victim.attacked, victim.inner = partial(_add, engine, server.url("manifest.json")), inner
            yield victim


@contextmanager
def too_many_layers_in_a_list() -> Iterator[Victim]:
    document = msgspec.json.encode(small_manifest(num_hidden_layers=_LAYERS))
    with engine_victim() as (engine, victim), serving(answer(200, document)) as server:
        victim.attacked = partial(_add, engine, server.url("manifest.json"))
        yield victim


@contextmanager
def too_many_layers() -> Iterator[Victim]:
    build_model(small_manifest())  # loads what the first model of a process loads
    yield Victim(
        os.getpid(),
        partial(build_model, small_manifest()),
        partial(build_model, small_manifest(num_hidden_layers=_LAYERS)),
    )


@contextmanager
def nested_brackets() -> Iterator[Victim]:
    with engine_victim() as (engine, victim):

        def send() -> None:
            with connected(engine) as connection:
                connection.sendall(b"[" * _BRACKETS + b"\n")
                connection.recv(1 << 16)

        victim.attacked = send
        yield victim


ATTACKS: dict[str, Callable[[], Any]] = {
    "none": an_engine_left_alone,
    "endless redirect": endless_redirect,
    "redirect inside": redirect_inside,
    "too many layers, added": too_many_layers_in_a_list,
    "too many layers": too_many_layers,
    "nested brackets": nested_brackets,
}


def _add(engine: RunningEngine, source: str) -> None:
    engine.ask(AddProject(source), ProjectInfo)


def watch(victim: Victim, seconds: float, attack: Callable[[], object] | None = None) -> Seen:
    seen, ended = Seen(), threading.Event()

    def repeat() -> None:
        while attack is not None and not ended.is_set():
            began = time.monotonic()
            with suppress(IdlehiveError, OSError):  # it is refused
                attack()
            seen.tries.append(time.monotonic() - began)
            time.sleep(_PAUSE)

    attacking = threading.Thread(target=repeat)
    attacking.start()
    until, memory = time.monotonic() + seconds, psutil.Process(victim.pid).memory_info
    try:
        while (began := time.monotonic()) < until:
            victim.asked()
            took = time.monotonic() - began
            seen.answers, seen.longest = seen.answers + 1, max(seen.longest, took)
            seen.peak = max(seen.peak, memory().rss // _MIB)
            time.sleep(max(0.0, _EVERY - took))
    finally:
        ended.set()
        attacking.join()
    return seen


def left_alone(attack: str, seconds: float) -> Seen:
    """What a victim of that attack does without it."""
    with ATTACKS[attack]() as victim:
        return watch(victim, seconds)


def measure(attack: str, seconds: float) -> dict[str, Any]:
    with ExitStack() as opened:
        twin = opened.enter_context(ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")))
        waiting = twin.submit(left_alone, attack, seconds)
        victim: Victim = opened.enter_context(ATTACKS[attack]())
        attacked = watch(victim, seconds, victim.attacked)
        both = waiting.result(), attacked
        return {
            "attack": attack,
            "answers_per_second": [round(seen.answers / seconds, 1) for seen in both],
            "longest_answer_ms": [round(1000 * seen.longest, 1) for seen in both],
            "mib_peak": [seen.peak for seen in both],
            "tries": len(attacked.tries),
            "longest_try_s": round(max(attacked.tries), 3),
            "reached": None if victim.inner is None else len(victim.inner.seen),
            "load": round(os.getloadavg()[0], 1),
        }


def main(seconds: float, attacks: list[str]) -> None:
    for attack in attacks:
        print(json.dumps(measure(attack, seconds)), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:] or list(ATTACKS))

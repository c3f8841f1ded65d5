"""Random and mutated bytes for everything that a stranger can write to: nothing may crash, hang or grow.

Usage: python -m benchmarks.fuzz [COUNT] [TARGET ...]

Each target gets COUNT inputs (100,000): mutations of valid ones, nested structures, and noise, from one seed. Printed
are the inputs per second, the longest time for one input, and by how much the process grew. An exception that the
target does not document ends the benchmark with the input.
"""

import json
import random
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec
import psutil
import torch
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hivemind.utils import MSGPackSerializer, ValueWithExpiration, nested_flatten

from benchmarks.fuzzed_messages import averaging_messages, judgements, state_streams
from core.api.errors import ManifestError
from core.api.intent import Pause
from core.api.project.manifest_reading import parse
from core.api.protocol import GetSnapshot, Request, encode
from core.client.profile import Profile
from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.host.web.published import PublishedRun
from core.host.web.routes import answer
from core.host.web.server import span_of
from core.swarm.dht.contributions import BadStatement, Round, Statement, sign, verify
from core.swarm.dht.organiser import verify as verify_record
from core.swarm.dht.progress.credible_progress import reports_in
from core.swarm.errors import BadState
from core.swarm.state.checks import Layout, check_epoch, check_numbers
from core.swarm.state.fork_detection import parse_record
from core.swarm.state.update_chain import chain_of
from tests.fakes.running_engine import RunningEngine
from tests.learning.small_project import small_manifest

Try = Callable[[bytes], object]
_SEED = 12
_HANGS_AFTER = 1.0
_MAY_GROW = 32 << 20


def inputs(valid: list[bytes], count: int) -> Iterator[bytes]:
    """`count` inputs that begin like valid ones."""
    chance = random.Random(_SEED)
    for _ in range(count):
        text = bytearray(chance.choice(valid))
        kind = chance.random()
        if kind < 0.02:
            opener = chance.choice((b"[", b'{"a":', b"\x91", b"\x81\xa1a", b"(", b"-", b"9"))
            yield opener * chance.choice((10, 1000, 100_000))
        elif kind < 0.2:
            yield chance.randbytes(chance.randrange(200))
        else:
            for _ in range(chance.randrange(1, 6)):
                _mutate(text, chance)
            yield bytes(text)


def _mutate(text: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(text) + 1)
    match chance.randrange(5):
        case 0 if text:
            text[place % len(text)] = chance.randrange(256)
        case 1:
            del text[place : place + chance.randrange(1, 20)]
        case 2:
            text[place:place] = text[: chance.randrange(1, 40)]
        case 3:
            number = chance.choice((b"1e999", b"-1", b"NaN", b"18446744073709551616", b"\xff\xff\xff\xff", b"9" * 5000))
            text[place:place] = number
        case _:
            text[place:place] = chance.randbytes(chance.randrange(1, 9))


@contextmanager
def engine_socket() -> Iterator[tuple[Try, list[bytes]]]:
    """A line to a running engine, which has to answer each."""
    with tempfile.TemporaryDirectory(prefix="hive") as folder:
        engine = RunningEngine(Profile(Path(folder, "profile")), Path(folder))
        engine.start()
        connection, replies = _connected(engine)

        def ask(text: bytes) -> None:
            nonlocal connection, replies
            connection.sendall(text.replace(b"\n", b" ") + b"\n")
            reply = replies.readline()
            if not reply:
                raise ConnectionError(f"the engine does not answer {text[:200]!r}")
            if b'"id":0,' in reply:
                # It is hung up on whoever sends what is no request.
                connection.close()
                connection, replies = _connected(engine)

        try:
            yield ask, [encode(Request(1, GetSnapshot())), encode(Request(2, Pause(5.0)))]
        finally:
            connection.close()
            engine.quit()


def _connected(engine: RunningEngine) -> tuple[socket.socket, BinaryIO]:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(10.0)
    connection.connect(str(engine.home.socket))
    return connection, connection.makefile("rb")


@contextmanager
def host_http() -> Iterator[tuple[Try, list[bytes]]]:
    """What the backbone's web server makes of a request target."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        published = PublishedRun({}, Curve(state, "run", 1000), ContributionStore(state, "run"), state / "checkpoints")

        def ask(text: bytes) -> None:
            target = text.decode("latin-1")
            answer(published, target, target)
            with suppress(ValueError):
                span_of(target, 1000)

        valid = [
            b"/curve.json?since=12",
            b"/leaderboard.json?volunteer=" + b"ab" * 32,
            b"/data/train.txt",
            b"bytes=1-9",
        ]
        yield ask, valid


@contextmanager
def manifest() -> Iterator[tuple[Try, list[bytes]]]:
    def read(text: bytes) -> None:
        with suppress(ManifestError):
            parse(text, "https://example.org/manifest.json")

    yield read, [msgspec.json.encode(small_manifest())]


@contextmanager
def dht_records() -> Iterator[tuple[Try, list[bytes]]]:
    """Progress, statements of contributions, the organiser's record and update chains."""

    def read(text: bytes) -> None:
        with suppress(BadStatement):
            verify(text)
        verify_record(text, [], "run")
        parse_record(text)
        try:
            value = MSGPackSerializer.loads(text)
        except Exception:  # noqa: BLE001 - hivemind refuses what it cannot unpack before anybody here sees it
            value = text
        reports_in({b"slot": ValueWithExpiration(value, time.time())}, time.time())
        chain_of(value)

    statement = Statement("run", b"s" * 16, b"peer", 1, (Round(1, 16, 2.0),), 5.0, "Ann")
    progress = {
        "peer_id": b"peer",
        "epoch": 5,
        "samples_accumulated": 16,
        "samples_per_second": 2.0,
        "time": time.time(),
        "client_mode": False,
    }
    chain = msgspec.msgpack.encode((b"peer", ((5, 2, "ab" * 16),), True))
    yield read, [sign(statement, Ed25519PrivateKey.generate()), MSGPackSerializer.dumps(progress), chain]


@contextmanager
def state_checks() -> Iterator[tuple[Try, list[bytes]]]:
    """The announcement before a state, and the optimizer's numbers in it."""
    parameter = torch.nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.AdamW([parameter], lr=0.1)
    structure = optimizer.state_dict()
    numbers = tuple({"type": "value", "value": value} for value in nested_flatten(structure))
    layout = Layout((((3,), torch.float32),), 1, numbers, structure, lambda _epoch: [0.1])

    def read(text: bytes) -> None:
        try:
            metadata = MSGPackSerializer.loads(text)
        except Exception:  # noqa: BLE001 - a stream that cannot be unpacked is dropped by who reads it
            return
        if not isinstance(metadata, dict):
            return
        try:
            check_epoch(metadata.get("epoch"), 0, 1000)
            chain_of(metadata.get("updates"))
            check_numbers(metadata.get("optimizer_metadata"), 5, layout)
        except BadState:
            pass

    valid = {"epoch": 5, "digest": "ab" * 16, "updates": [[5, 2, "ab" * 16]], "optimizer_metadata": list(numbers)}
    yield read, [MSGPackSerializer.dumps(valid)]


TARGETS = {
    "engine socket": engine_socket,
    "host HTTP": host_http,
    "manifest": manifest,
    "DHT records": dht_records,
    "state checks": state_checks,
    "averaging messages": averaging_messages,
    "judgements": judgements,
    "state streams": state_streams,
}


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    chosen = sys.argv[2:] or list(TARGETS)
    worst = 0
    for name in chosen:
        with TARGETS[name]() as (attempt, valid):
            worst = max(worst, measure(name, attempt, valid, count))
    return worst


def measure(name: str, attempt: Try, valid: list[bytes], count: int) -> int:
    """Print the figures of one target; 1 if it hung or grew."""
    for text in inputs(valid, 1000):
        attempt(text)
    watched = [psutil.Process(), *psutil.Process().children(recursive=True)]
    before, longest, began = _memory(watched), 0.0, time.monotonic()
    for text in inputs(valid, count):
        at = time.monotonic()
        try:
            attempt(text)
        except BaseException:  # also Ctrl-C during an input that hangs: that input is what is looked for
            print(f"{name}: {text[:200]!r}", file=sys.stderr)
            raise
        longest = max(longest, time.monotonic() - at)
    grown = _memory(watched) - before
    speed = count / (time.monotonic() - began)
    print(
        json.dumps(
            {
                "target": name,
                "inputs": count,
                "per_second": round(speed),
                "longest": round(longest, 3),
                "grown_mib": round(grown / (1 << 20), 1),
            }
        ),
        flush=True,
    )
    return int(longest > _HANGS_AFTER or grown > _MAY_GROW)


def _memory(processes: list[psutil.Process]) -> int:
    return sum(process.memory_info().rss for process in processes if process.is_running())


if __name__ == "__main__":
    sys.exit(main())

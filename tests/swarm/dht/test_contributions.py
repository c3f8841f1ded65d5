"""Statements of contributions: signed, bounded, and sent only if the volunteer wants it. Real peers on loopback."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from core.swarm.dht.contributions import LARGEST, MOST_ROUNDS, BadStatement, Round, Statement, sign, verify

RUN = "run"
Statements = list[list[object]]


class Peer:
    """A `publishing_peer.py`, under a subreaper."""

    def __init__(self, folder: Path, key: Path, *peers: str, run: str = RUN) -> None:
        folder.mkdir()
        subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / "subreaper"), "--"]
        program = [sys.executable, "-m", "tests.swarm.publishing_peer", str(folder), run, str(key), *peers]
        self._process = subprocess.Popen(
            [*subreaper, *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self.address = self._out.readline().strip()
        assert self.address, "the peer did not start"

    def publish(self, epoch: int, samples: int, *, wanted: bool = True, name: str = "") -> None:
        assert self._ask(f"publish {epoch} {samples} {'yes' if wanted else 'no'} {name}") == "published"

    def read(self) -> Statements:
        found: Statements = json.loads(self._ask("read"))
        return found

    def sees(self, expected: Statements) -> bool:
        """Whether it reads that, within some seconds."""
        deadline = time.monotonic() + 15.0
        while (seen := self.read()) != expected and time.monotonic() < deadline:
            time.sleep(0.1)
        return seen == expected

    def _ask(self, line: str) -> str:
        self._in.write(line + "\n")
        self._in.flush()
        return self._out.readline().strip()

    def end(self) -> None:
        self._in.close()
        self._process.wait(30)
        self._out.close()


@pytest.fixture
def peers(short_folder: Path) -> Iterator[tuple[Peer, Peer, str]]:
    """One that watches and has no key, one that publishes, and the publisher's identity."""
    key = Ed25519PrivateKey.generate()
    (short_folder / "volunteer.key").write_bytes(key.private_bytes_raw())
    watching = Peer(short_folder / "a", short_folder / "other.key")
    publishing = Peer(short_folder / "b", short_folder / "volunteer.key", watching.address)
    yield watching, publishing, key.public_key().public_bytes_raw().hex()
    publishing.end()
    watching.end()


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_a_peer_sees_what_another_publishes_and_nothing_while_it_does_not_want_to(
    peers: tuple[Peer, Peer, str],
) -> None:
    watching, publishing, id_ = peers
    publishing.publish(1, 100, wanted=False, name="Ann")
    publishing.publish(2, 110, wanted=False, name="Ann")
    # Its own view would show a record before any other peer's.
    assert publishing.read() == []
    assert watching.read() == []
    publishing.publish(3, 120)
    assert watching.sees([[id_, None, [[3, 120]]]]), "rounds from before are not published afterwards"
    publishing.publish(4, 130, name="Ann of the Hill")
    assert watching.sees([[id_, "Ann of the Hill", [[3, 120], [4, 130]]]])
    publishing.publish(5, 140, wanted=False)
    publishing.publish(6, 150)
    assert watching.sees([[id_, None, [[6, 150]]]])


def test_the_longest_statement_fits() -> None:
    most = (1 << 53) - 1
    rounds = tuple(Round(most, most, 1.0) for _ in range(MOST_ROUNDS))
    statement = Statement("r" * 64, b"s" * 16, b"p" * 64, most, rounds, 1e300, "ű" * 32)
    data = sign(statement, Ed25519PrivateKey.generate())
    assert len(data) <= LARGEST
    assert verify(data)[1] == statement


def test_one_changed_bit_is_a_forgery() -> None:
    data = bytearray(sign(Statement(RUN, b"s" * 16, b"p", 1, (Round(1, 5, 2.0),), 1.0), Ed25519PrivateKey.generate()))
    data[-3] ^= 1
    with pytest.raises(BadStatement, match="forged"):
        verify(bytes(data))


@pytest.mark.parametrize("rounds", [[[0, 5, 1.0]], [[1, 0, 1.0]], [[1, 5]], [[1, 5, 1.0, 7]], [[1, 5, 1.0]] * 33, "x"])
def test_what_does_not_fit_the_form_is_malformed_however_well_it_is_signed(rounds: object) -> None:
    key = Ed25519PrivateKey.generate()
    body = msgspec.msgpack.encode([RUN, b"s" * 16, b"p", 1, rounds, 1.0, None])
    data = key.public_key().public_bytes_raw() + key.sign(b"idlehive contribution 1\n" + body) + body
    with pytest.raises(BadStatement, match="malformed"):
        verify(data)

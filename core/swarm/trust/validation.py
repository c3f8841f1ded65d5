"""Whether a member brought to a round what its own samples give, which a validator computes again. Pure.

A member publishes which samples it brought (`core.learning.order`). It does not choose them: its name and the epoch do.
A validator is one of those who reduced a share of the round. Before the round it has chosen a member, by chance and
without telling anybody, and keeps *sums* of what that one sends it: the numbers of its share with random signs in
`_SUMS` heaps, of which nobody else knows the signs. Distances between sums are those between the vectors, give or take
a tenth. So nothing that the member could say about its gradients would help it, and nothing more has to be said.

This is BTARD's validation (Gorbunov et al. 2022, section 3.1) without its hashes: each validator judges what was sent
to itself.
"""

import math
import os
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np
import torch

from core.learning.order import Piece
from core.swarm.trust.signed_sums import signed_sums

_TOLERANCES = {"none": 0.2, "float16": 0.2}
"""How far what was sent may be from what is computed again, as a share of its norm; measured in docs/measurements.md.
An attack that gains anything sends another vector: it is off by about its whole norm."""
_COARSE = 1.5
"""Where averages are sent in 8 bits a number, which lose more than half of a gradient with a few large numbers: only
what points the other way is another vector for sure."""
_SUMS = 128
_IN_TURN = 0.75
"""Chance that one is chosen whose turn it is: all are validated soon, and nobody knows that it is not."""
_SUSPECTED = 0.5
"""Chance likewise that it is one that has failed once: it may never come back."""
_MOST_KNOWN = 4096
_FAILURES = 2
"""In a row until a member is guilty, if another one has passed in between: the validator's own state may be off for a
while, and then everybody fails."""
_FAILURES_ALONE = 6
"""Likewise if nobody has passed."""
_SILENCES = 6
"""Likewise of one whose record says nothing that fits: those who keep the record may have lost it. Twice as much if it
does not say so itself, either."""
_MOST_BATCHES = 8
"""Of the project's target: samples that a peer computes in an epoch at most. To find the last one, all are read."""
MOST_LATE = 1
"""Epochs that parameters may be older than those of the round."""


def tolerance_of(compression: str) -> float:
    """Deviation from which what was sent is another vector, where averages are compressed like that."""
    return _TOLERANCES.get(compression, _COARSE)


class Evidence(msgspec.Struct, frozen=True):
    """What a member sent to this one in a round."""

    peer: str
    slot: bytes
    """Its place in the DHT, which it named to the group."""
    epoch: int
    weight: float
    begin: int
    """Of the share, in the vector of all parameters."""
    end: int
    norm: float
    """Of the share."""
    sums: tuple[float, ...]
    seed: bytes

    def is_supported_by(self, pieces: Sequence[Piece], target: int, portions: int = 1) -> bool:
        """Whether these can be the samples that weigh so much in this round, where `target` are a batch of all and the
        data have so many portions."""
        epochs = [piece.epoch for piece in pieces]
        # Each change of the portion begins at the first sample.
        used = {(piece.epoch, piece.portion) for piece in pieces}
        has_one_each = len(used) == len(set(epochs)) and all(portion < portions for _, portion in used)
        in_order = all((one.epoch, one.first + one.count) <= (two.epoch, two.first) for one, two in pairwise(pieces))
        is_new = bool(epochs) and self.epoch - MOST_LATE <= min(epochs) and max(epochs) <= self.epoch
        is_near = all(piece.first + piece.count <= _MOST_BATCHES * target for piece in pieces)
        return has_one_each and in_order and is_new and is_near and sum(piece.count for piece in pieces) == self.weight

    def deviation(self, vector: torch.Tensor) -> float:
        """How far what was sent is from the vector, as a share of the larger norm of both."""
        share = vector[self.begin : self.end]
        norm = max(self.norm, float(torch.linalg.vector_norm(share)), _least_norm(vector, len(share)))
        distance = float(np.linalg.norm(np.subtract(self.sums, sums_of([share], self.seed))))
        return distance / norm if norm else 0.0


class Facts(NamedTuple):
    """See `Evidence`."""

    peer: str
    slot: bytes
    epoch: int
    weight: float
    begin: int
    end: int


def evidence_of(facts: Facts, parts: Sequence[torch.Tensor]) -> Evidence | None:
    """Of the parts of a share, in order; None if some are missing."""
    if sum(part.numel() for part in parts) != facts.end - facts.begin or not parts:
        return None
    seed = os.urandom(16)
    norm = float(sum(float(part.float().square().sum()) for part in parts) ** 0.5)
    return Evidence(*facts, norm, sums_of(parts, seed), seed)


def sums_of(parts: Sequence[torch.Tensor], seed: bytes) -> tuple[float, ...]:
    """Of all numbers of the parts, one after the other."""
    flat = torch.cat([part.flatten() for part in parts])
    return tuple(signed_sums(flat, np.random.PCG64(int.from_bytes(seed, "big")), _SUMS).tolist())


def _least_norm(vector: torch.Tensor, count: int) -> float:
    """A share whose gradients are nothing but rounding says nothing."""
    return 0.01 * float(torch.linalg.vector_norm(vector)) * math.sqrt(count / max(1, len(vector)))


class _Failures(NamedTuple):
    """Of one member, in a row."""

    together: int = 0
    certain: int = 0
    """Without those that nobody's pass came before."""
    passes: int = -1
    """Of all members, when the last one was."""

    def one_more(self, passes: int) -> "_Failures":
        return _Failures(self.together + 1, self.certain + (passes != self.passes), passes)

    @property
    def are_enough(self) -> bool:
        return self.certain >= _FAILURES or self.together >= _FAILURES_ALONE


class Verdicts:
    """Who has failed validations, one after the other, and who has passed one."""

    def __init__(self) -> None:
        self._failures: dict[str, _Failures] = {}
        self._passes = 0
        self._silences: dict[str, int] = {}
        self._passed: dict[str, None] = {}

    @property
    def suspects(self) -> frozenset[str]:
        """Validated first."""
        return frozenset(self._failures)

    @property
    def passed(self) -> tuple[str, ...]:
        """The latest last."""
        return tuple(self._passed)

    @property
    def waiting(self) -> frozenset[str]:
        """Suspects since whose failure nobody has passed: another one says nothing before."""
        return frozenset(peer for peer, failures in self._failures.items() if failures.passes == self._passes)

    def add(self, peer: str, *, is_good: bool) -> bool:
        """Whether the peer is guilty now."""
        failures = self._failures.pop(peer, _Failures()).one_more(self._passes)
        is_guilty = not is_good and failures.are_enough
        self._silences.pop(peer, None)
        self._passed.pop(peer, None)
        if is_good:
            self._passes += 1
            self._passed[peer] = None
        elif not is_guilty:
            self._failures[peer] = failures
        self._forget_some()
        return is_guilty

    def add_silence(self, peer: str, *, is_certain: bool = False) -> bool:
        """It says nothing of its work that fits, others do; or, what `is_certain`, not even when it is asked itself.
        Whether that was once too often."""
        silences = self._silences.pop(peer, 0) + (2 if is_certain else 1)
        self._passed.pop(peer, None)
        if silences < _SILENCES:
            self._silences[peer] = silences
        self._forget_some()
        return silences >= _SILENCES

    def _forget_some(self) -> None:
        for known in (self._failures, self._silences, self._passed):
            while len(known) > _MOST_KNOWN:
                del known[next(iter(known))]


class Wanted(NamedTuple):
    """The members to watch in the next round."""

    suspects: frozenset[str]
    passed: tuple[str, ...]
    waiting: frozenset[str] = frozenset()
    """Suspects for whom another one is to be validated first."""

    def choice(self, peers: Sequence[str]) -> str | None:
        """One of the peers, by chance so that nobody can guess: often a suspect; else mostly one that has never passed,
        or, if there is none, of those that did not pass lately; else any."""
        chance = random.SystemRandom()
        peers = [peer for peer in peers if peer not in self.waiting] or peers
        suspects = [peer for peer in peers if peer in self.suspects] if chance.random() < _SUSPECTED else []
        new = [peer for peer in peers if peer not in self.passed]
        longest_ago = [peer for peer in self.passed if peer in peers][: (len(peers) + 1) // 2]
        among = suspects or ((new or longest_ago) if chance.random() < _IN_TURN else list(peers))
        return chance.choice(among) if among else None

"""What hostile members do to a training run, by attack and by defence: the table of BTARD in small.

Usage: python -m benchmarks.byzantine [SEEDS [reducers]]

16 peers train a small classifier in one process. Four honest reducers of this product average their gradients. From
step 50 on, 7 of the peers send what the attack makes of the gradients (Gorbunov et al. 2022, section 4.1). Each figure
is the loss on held-out data after the last step, the mean of SEEDS runs (3):

- claims: hivemind's mean; attackers claim a hundred times their samples;
- mean: the same mean; nobody lies about samples;
- checked: the mean of this product; attackers claim as in the first column and count twice;
- clipped: CenteredClip; nobody lies about samples;
- two: CenteredClip; two attackers of 16, who claim as in the first column;
- validated: CenteredClip; 7 attackers; nobody lies about samples, and the backbone computes the gradients of one peer
  again in every second step. Whoever fails twice in a row is left out. Beside the loss are the steps from the first
  attack until all attackers are left out, for each seed.

Then each of the 16 reduces a share, and some give all members the negated average. Asked by those who audit the round,
they deny nothing, or say that what they took from a minority, or from all, was the opposite, and say the same of what
they brought to each other. The figures are the rounds until all honest members leave these out, and how many honest
reducers at least one member leaves out within 200 rounds. With `reducers` nothing else is done.
"""

import asyncio
import random
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist

import numpy as np
import torch
from hivemind.averaging.partition import TensorPartReducer
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from core.swarm.averaging.audited import AUDITORS, AuditedAverager
from core.swarm.trust.audit import Account, Rounding, liars, sums_of
from core.swarm.trust.centered_clip import centered_clip
from core.swarm.trust.parts import CheckedReducer
from core.swarm.trust.validation import Facts, Verdicts, Wanted, evidence_of, tolerance_of

PEERS, HOSTILE, REDUCERS = 16, 7, 4
STEPS, FROM, _AUDITED = 150, 50, 200
_ROUNDING = Rounding(AuditedAverager.rounding, AuditedAverager.rounding, [0.0] * PEERS)
_BATCH, _FEATURES, _CLASSES, _HELD_OUT = 32, 32, 10, 2000
_CLAIMED = 100.0
"""Times the samples of an attacker."""
_MOST = 2.0
"""Times its samples that a peer may weigh; see `core.swarm.dht.progress.weight_limits`."""
_USUAL = NormalDist().inv_cdf((PEERS - HOSTILE - (PEERS // 2 + 1 - HOSTILE)) / (PEERS - HOSTILE))
"""Standard deviations that hide among those of the honest (Baruch et al. 2019)."""

_VALIDATE_EVERY, _FLOAT16 = 2, 65_504.0

Gradients = torch.Tensor
"""A row for each peer."""


@dataclass(frozen=True)
class Moment:
    """What attackers know of a step."""

    honest: Gradients
    own: Gradients
    flipped: Gradients
    """Theirs, with labels turned around."""
    earlier: Gradients
    """Theirs of `FROM` steps ago."""
    direction: torch.Tensor


ATTACKS: dict[str, Callable[[Moment], torch.Tensor]] = {
    "none": lambda at: at.own,
    "sign flip": lambda at: -at.own,
    "sign flip, x1000": lambda at: -1000 * at.own,
    "random direction, x1000": lambda at: 1000 * at.honest.mean(0).norm() * at.direction,
    "label flip": lambda at: at.flipped,
    "delayed gradient": lambda at: at.earlier,
    "inner product, 0.1": lambda at: -0.1 * at.honest.mean(0),
    "inner product, 0.6": lambda at: -0.6 * at.honest.mean(0),
    "a little is enough": lambda at: at.honest.mean(0) - _USUAL * at.honest.std(0),
}


@dataclass(frozen=True)
class Defence:
    hostile: int = HOSTILE
    is_checked: bool = True
    is_robust: bool = False
    claimed: float = 1.0
    is_validated: bool = False

    def reducer(self, shape: torch.Size) -> TensorPartReducer:
        if not self.is_checked:
            return TensorPartReducer((shape,), PEERS)
        reducer = CheckedReducer((shape,), PEERS)
        reducer.own_index, reducer.dropped, reducer.hands_out_averages = None, set(), True
        reducer.most_weight = lambda _sender: _MOST * _BATCH
        reducer.on_fault = lambda _sender, _offence: None
        # Nobody's gradients are finite any more: the training has failed, and its loss says so.
        reducer.on_nothing = lambda: reducer.current_part_future.set_result(torch.full(shape, torch.nan))
        if self.is_robust:
            reducer.make_robust()
        return reducer

    async def average(self, gradients: Gradients, *, is_attacked: bool, banned: Collection[int] = ()) -> torch.Tensor:
        claimed = _BATCH * (self.claimed if is_attacked else 1.0)

        async def of_share(parts: Gradients) -> torch.Tensor:
            reducer = self.reducer(parts[0].shape)
            weights = [claimed if peer < self.hostile else float(_BATCH) for peer in range(PEERS)]
            for peer in banned:
                reducer.drop(peer, "gradient_wrong")
            answers = await asyncio.gather(
                *(reducer.accumulate_part(peer, 0, parts[peer], weights[peer]) for peer in range(PEERS))
            )
            average: torch.Tensor = answers[0]
            return average.as_subclass(torch.Tensor)

        return torch.cat(await asyncio.gather(*map(of_share, gradients.tensor_split(REDUCERS, dim=1))))


DEFENCES = {
    "claims": Defence(is_checked=False, claimed=_CLAIMED),
    "mean": Defence(is_checked=False),
    "checked": Defence(claimed=_CLAIMED),
    "clipped": Defence(is_robust=True),
    "two": Defence(hostile=2, is_robust=True, claimed=_CLAIMED),
    "validated": Defence(is_robust=True, is_validated=True),
}


EXCUSES = {"none": 0, "a minority": (PEERS - 1) // 2, "all": PEERS}
"""Of how many members a reducer says that it took the opposite of what they brought, as accomplices say, too."""


def _told(
    shares: Sequence[torch.Tensor], averages: Sequence[torch.Tensor], hostile: int, denied: int, seed: bytes
) -> tuple[np.ndarray, dict[int, Account]]:
    """What a member got from each reducer, and what all say of a round in which the first ones negate the average."""

    def sums(row: torch.Tensor, reducer: int) -> np.ndarray:
        return sums_of([(0, row)], seed, reducer)

    brought = np.array([[sums(share[peer], reducer) for reducer, share in enumerate(shares)] for peer in range(PEERS)])
    given = np.array([sums(average, reducer) for reducer, average in enumerate(averages)])
    given[:hostile] *= -1
    taken = brought.copy()
    if denied:
        taken[: hostile + denied, :hostile] *= -1
    brought[:hostile, :hostile] = taken[:hostile, :hostile]
    counted = np.full(PEERS, float(_BATCH))
    return given, {
        peer: Account(float(_BATCH), brought[peer], taken[:, peer], counted, given[peer]) for peer in range(PEERS)
    }


class Validator:
    """The backbone's: it reduces a share, and knows what each peer should have sent."""

    def __init__(self) -> None:
        self._verdicts = Verdicts()
        self.banned: set[int] = set()

    def validate(self, sent: Gradients, honest: Gradients) -> None:
        """One of the peers that are left."""
        peers = [str(peer) for peer in range(PEERS) if peer not in self.banned]
        chosen = Wanted(self._verdicts.suspects, self._verdicts.passed, self._verdicts.waiting).choice(peers)
        if chosen is None:
            return
        peer, end = int(chosen), sent.shape[1] // REDUCERS
        part = sent[peer, :end].clamp(-_FLOAT16, _FLOAT16).to(torch.float16).to(torch.bfloat16)
        evidence = evidence_of(Facts(chosen, b"", 0, float(_BATCH), 0, end), [part])
        if evidence is None:
            return
        is_good = evidence.deviation(honest[peer]) <= tolerance_of("float16")
        if self._verdicts.add(chosen, is_good=is_good):
            self.banned.add(peer)


class Run:
    """The same data, model and batches for all runs of a seed."""

    def __init__(self, seed: int) -> None:
        self._chance = torch.Generator().manual_seed(seed)
        self._centres = torch.randn(_CLASSES, _FEATURES, generator=self._chance) * 0.6
        torch.manual_seed(seed)
        self._model = torch.nn.Sequential(
            torch.nn.Linear(_FEATURES, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU()
        )
        self._model.append(torch.nn.Linear(64, _CLASSES))
        self._names, self._shapes = zip(
            *((name, value.shape) for name, value in self._model.named_parameters()), strict=True
        )
        self._vector = torch.cat([value.detach().flatten() for value in self._model.parameters()])
        self._held_out = self._samples(_HELD_OUT)
        self._gradients = vmap(grad(self._loss), in_dims=(None, 0, 0))

    def final_loss(self, attack: str, defence: Defence) -> float:
        """On held-out data. `banned_after` then has the steps until all attackers are left out, if they ever are."""
        validator = Validator()
        self.banned_after: int | None = None
        vector, momentum = self._vector, torch.zeros_like(self._vector)
        direction = torch.randn(len(vector), generator=self._chance)
        direction /= direction.norm()
        earlier = list[Gradients]()
        for step in range(STEPS):
            gradients, inputs, labels = self._step(vector)
            computed = gradients
            earlier.append(gradients)
            is_attacked = step >= FROM and attack != "none"
            if is_attacked:
                count = defence.hostile
                flipped = self._gradients(vector, inputs[:count], _CLASSES - 1 - labels[:count])
                honest, own, before = gradients[count:], gradients[:count], earlier[step - FROM][:count]
                gradients = gradients.clone()
                gradients[:count] = ATTACKS[attack](Moment(honest, own, flipped, before, direction))
            average = asyncio.run(
                defence.average(gradients, is_attacked=is_attacked, banned=frozenset(validator.banned))
            )
            if defence.is_validated and step % _VALIDATE_EVERY == 0:
                validator.validate(gradients, computed)
                if self.banned_after is None and validator.banned == set(range(defence.hostile)):
                    self.banned_after = step + 1 - FROM
            momentum = 0.9 * momentum + average
            vector = vector - 0.02 * momentum
        self.wrongly_banned = len(validator.banned - set(range(defence.hostile)))
        return float(self._loss(vector, *self._held_out))

    def audits(self, hostile: int, excuse: str) -> tuple[int, int]:
        """Rounds until all honest members have left out the hostile reducers, and the honest ones left out by any."""
        chance, dropped = random.Random(hostile), [set[int]() for _member in range(PEERS)]
        expected, vector = set(range(hostile)), self._vector
        found_after = 0
        for _round in range(_AUDITED):
            gradients, *_samples = self._step(vector)
            shares = gradients.tensor_split(PEERS, dim=1)
            averages = [centered_clip(list(share), [_BATCH] * PEERS) for share in shares]
            vector = vector - 0.02 * torch.cat(averages)
            for member in range(hostile, PEERS):
                if chance.random() * (PEERS - 1) < AUDITORS:
                    received, said = _told(shares, averages, hostile, EXCUSES[excuse], chance.randbytes(16))
                    most = [_MOST * _BATCH] * PEERS
                    sizes = [share.shape[1] for share in shares]
                    found = liars(member, said, received, most, shares=sizes, rounding=_ROUNDING)
                    dropped[member].update(found)
            found_after += not all(expected <= seen for seen in dropped[hostile:])
        return found_after, len(set().union(*dropped) - expected)

    def _step(self, vector: torch.Tensor) -> tuple[Gradients, torch.Tensor, torch.Tensor]:
        inputs, labels = self._samples(PEERS * _BATCH)
        inputs, labels = inputs.view(PEERS, _BATCH, -1), labels.view(PEERS, _BATCH)
        return self._gradients(vector, inputs, labels), inputs, labels

    def _loss(self, vector: torch.Tensor, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        pieces = vector.split([shape.numel() for shape in self._shapes])
        values = {name: piece.view(shape) for name, piece, shape in zip(self._names, pieces, self._shapes, strict=True)}
        return cross_entropy(functional_call(self._model, values, (inputs,)), labels)

    def _samples(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        labels = torch.randint(_CLASSES, (count,), generator=self._chance)
        return self._centres[labels] + torch.randn(count, _FEATURES, generator=self._chance), labels


def _print_losses(seeds: int) -> None:
    print(f"{'attack':26}" + "".join(f"{name:>12}" for name in DEFENCES))
    for attack in ATTACKS:
        print(f"{attack:26}", end="")
        for defence in DEFENCES.values():
            runs = [Run(seed) for seed in range(seeds)]
            loss = sum(run.final_loss(attack, defence) for run in runs) / seeds
            print(f"{loss:12.3g}", end="", flush=True)
            if defence.is_validated:
                print(f"  {[run.banned_after for run in runs]}, honest {[run.wrongly_banned for run in runs]}")


def _print_audits(seeds: int) -> None:
    for hostile, excuse in [(0, "none"), *product((1, 2, 4, HOSTILE), EXCUSES)]:
        rounds, blamed = zip(*(Run(seed).audits(hostile, excuse) for seed in range(seeds)), strict=True)
        print(
            f"{hostile} hostile reducers that deny {excuse}: not all left out for {rounds} rounds, "
            f"honest ones left out: {blamed}",
            flush=True,
        )


def main(seeds: int, *, only_reducers: bool) -> None:
    torch.set_num_threads(1)
    began = time.monotonic()
    if not only_reducers:
        _print_losses(seeds)
    _print_audits(seeds)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, only_reducers=sys.argv[2:] == ["reducers"])

"""The members of a group and what they say of a round, honestly or not."""

import hashlib
from collections.abc import Collection, Iterable

import numpy as np
import torch

from core.swarm.trust.audit import Account, Rounding, liars, sums_of
from core.swarm.trust.centered_clip import centered_clip
from core.swarm.trust.parts import DIGEST_SIZE

SIZE = 2048
"""Numbers of each reducer's share."""
SEED = b"0123456789abcdef"
ROUNDING, LOSSY = 0.03, 0.3
BAD = 3
"""The number of the reducer that cheats."""


class Swarm:
    """What the members of a group bring, with so many samples each, and what they get from honest reducers."""

    def __init__(self, members: int, seed: int = 0, noise: float = 4.0) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.weights = torch.randint(8, 64, (members,), generator=generator).double().numpy()
        gradient = torch.randn(members, SIZE, generator=generator)
        deviations = torch.randn(members, members, SIZE, generator=generator)
        self.brought = gradient + deviations * noise / torch.from_numpy(self.weights).float().sqrt()[:, None, None]
        """By sender and reducer."""
        self.taken = self.brought.clone()
        """As the reducers say."""
        self.given = torch.stack([self.centre(reducer) for reducer in range(members)])
        """Likewise."""
        self.received = self.given.repeat(members, 1, 1)
        """By member and reducer."""
        self.shares = [SIZE] * members

    def reduces_nothing(self, member: int) -> None:
        """As one whose line is slow beside those of the others."""
        self.shares[member] = 0
        for vectors in (self.brought[:, member], self.taken[:, member], self.given[member], self.received[:, member]):
            vectors.zero_()

    def centre(self, reducer: int) -> torch.Tensor:
        """Of what it says that it took."""
        return centered_clip(list(self.taken[:, reducer]), list(self.weights))

    def give(self, reducer: int, average: torch.Tensor) -> None:
        self.given[reducer] = average
        self.received[:, reducer] = average

    def said(self) -> dict[int, Account]:
        def sums(rows: Iterable[torch.Tensor], reducers: Iterable[int]) -> np.ndarray:
            return np.array([sums_of([(0, row)], SEED, reducer) for row, reducer in zip(rows, reducers, strict=True)])

        members = range(len(self.weights))
        return {
            member: Account(
                float(self.weights[member]),
                sums(self.brought[member], members),
                sums(self.taken[:, member], [member] * len(members)),
                self.weights.copy(),
                sums([self.given[member]], [member])[0],
                [digest(average) for average in self.received[member]],
            )
            for member in members
        }

    def leave_out(self, left_out: list[int], reducer: int) -> dict[int, Account]:
        """What all say if that one counts nothing of these."""
        self.taken[left_out, reducer] = 0.0
        rest = [member for member in range(len(self.weights)) if member not in left_out]
        self.give(reducer, centered_clip(list(self.taken[rest, reducer]), list(self.weights[rest])))
        said = self.said()
        said[reducer].counted[left_out] = 0.0
        return said

    def found_by(
        self,
        own: int,
        said: dict[int, Account] | None = None,
        distrusted: Collection[int] = (),
        incomplete: Collection[int] = (),
    ) -> list[int]:
        received = [sums_of([(0, average)], SEED, reducer) for reducer, average in enumerate(self.received[own])]
        most = [200.0] * len(self.weights)
        rounding = Rounding(ROUNDING, LOSSY, [6e-8 * SIZE**0.5] * len(self.weights))
        return liars(
            own,
            said or self.said(),
            np.array(received),
            most,
            shares=self.shares,
            rounding=rounding,
            distrusted=distrusted,
            incomplete=incomplete,
        )


def digest(average: torch.Tensor) -> bytes:
    return hashlib.blake2b(average.numpy().tobytes(), digest_size=DIGEST_SIZE).digest()

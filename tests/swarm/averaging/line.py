"""Three honest members of averaging groups, and one that attacks them."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.dht.peer import own_addresses
from core.swarm.dht.progress.weight_limits import WeightLimits
from core.swarm.trust.distrust import Distrust, Drop
from tests.swarm.averaging.peers.member import TIMEOUT, Member

HONEST, HOSTILE = (1.0, 2.0, 6.0), 4.0
MEAN = 3.0
"""Of the honest members."""
PATIENCE = 15.0
OPTIONS: dict[str, Any] = {"sizes": (20_001, 7), "part_size_bytes": 1 << 14, "part_timeout": 3.0}
"""Some parts for each reducer."""


class Line:
    """Three honest members, and one that is not. With a bandwidth of 0 it reduces nothing."""

    def __init__(
        self,
        folder: Path,
        opened: ExitStack,
        kind: type[EpochGradientAverager],
        *,
        is_robust: bool = False,
        **options: Any,
    ) -> None:
        self._is_robust = is_robust
        self.drops: list[Drop] = []
        self.limits = WeightLimits(newcomers={}, crowd=(2.0 * len(HONEST), 0.0))
        self.members: list[Member] = []
        for value in HONEST:
            self._add(folder, opened, value, distrust=Distrust(self.drops.append))
        self.hostile = self._add(folder, opened, HOSTILE, kind=kind, **options)
        self.honest = self.members[:-1]
        self.attacker = str(self.hostile.dht.peer_id)

    def _add(self, folder: Path, opened: ExitStack, value: float, **options: Any) -> Member:
        contact = own_addresses(self.members[0].dht) if self.members else []

        def expected() -> Mapping[bytes, float]:
            return {other.dht.peer_id.to_bytes(): 0.0 for other in self.members if other.value != value}

        options = {"weight_limits": lambda: self.limits, "expected": expected, **OPTIONS, **options}
        options["is_robust"] = self._is_robust
        made = Member(folder, value, contact, opened, matchmaking_time=PATIENCE, **options)
        self.members.append(made)
        return made

    def round(self) -> list[int | Exception]:
        """The sizes of the honest members' groups, or why there is none. The attacker always comes."""
        controls = [member.begin(timeout=PATIENCE + 5.0) for member in (self.hostile, *self.honest)]
        for control in controls:
            control.allow_allreduce()
        ends: list[int | Exception] = []
        for control in controls[1:]:
            try:
                ends.append(len(control.result(TIMEOUT)))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
                ends.append(error)
        if not controls[0].done():
            controls[0].cancel()
        return ends

    @property
    def gradients(self) -> list[float]:
        return [member.gradient for member in self.honest]

    def offences(self) -> list[tuple[str, str]]:
        """Who was dropped and why, as each honest member saw it."""
        for member in self.honest:
            member.averager.read_offences()
        return [(drop.peer, drop.offence) for drop in self.drops]

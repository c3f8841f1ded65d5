"""Sessions of volunteers that claim samples, and the audit that judges them."""

from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from core.api.project.manifest import Training
from core.host.contributions.audit import Audit
from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.swarm.dht.contributions import Found, Round, Statement, sign, slot_of
from core.swarm.dht.progress.credible_progress import PeerReport
from core.swarm.dht.progress.run_monitor import RunProgress
from tests.learning.small_project import small_manifest

TARGET = 512
RUN = "run"


def training() -> Training:
    return msgspec.structs.replace(small_manifest().training, target_batch_size=TARGET, microbatch_size=16)


@dataclass
class Peer:
    """One session of a volunteer."""

    name: str
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    speed: float = 50.0
    sequence: int = 0
    rounds: list[Round] = field(default_factory=list)

    @property
    def slot(self) -> bytes:
        return slot_of(self.name.encode())

    @property
    def id(self) -> str:
        return self.key.public_key().public_bytes_raw().hex()

    def reports(self, epoch: int, samples: int) -> tuple[bytes, PeerReport]:
        return self.slot, PeerReport(self.slot, self.name.encode(), epoch, samples, self.speed)

    def claims(self, epoch: int, samples: int, **changes: object) -> Found:
        self.sequence += 1
        self.rounds.append(Round(epoch, samples, 4.0))
        made = Statement(RUN, self.slot, self.name.encode(), self.sequence, tuple(self.rounds), self.speed, self.name)
        return Found(self.slot, sign(msgspec.structs.replace(made, **changes), self.key))


class Books:
    """An audit with its files and a clock."""

    def __init__(self, folder: Path) -> None:
        self.store, self.curve = ContributionStore(folder, RUN), Curve(folder, RUN, 4 * TARGET)
        self.now = 1000.0
        self.restart()

    def restart(self, *, knows_rounds: bool = False) -> None:
        self.audit = Audit(self.store, self.curve, RUN, training(), knows_rounds=knows_rounds)

    def see(self, epoch: int, *reports: tuple[bytes, PeerReport], made: int = 0) -> None:
        self.now += 1.0
        self.audit.observe(RunProgress(epoch=epoch, slots=dict(reports)), made, self.now)

    def meet(self, epoch: int, *peers: "Peer", full: bool = False) -> None:
        """The backbone makes the update that `epoch` begins with, together with them."""
        self.audit.add_round(epoch, frozenset((peer.name.encode(), peer.slot) for peer in peers), may_be_others=full)

    def hear(self, *found: Found) -> None:
        for each in found:
            self.audit.judge(each, self.now)

    def total(self, peer: Peer) -> int:
        entry = self.store.entry(peer.id)
        return entry.samples if entry else 0

    def close(self) -> None:
        self.store.close()
        self.curve.close()

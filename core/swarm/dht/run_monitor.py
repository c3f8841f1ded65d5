"""The progress that the peers of a run report, read without reporting any."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hivemind import DHT
from hivemind.dht.schema import RSASignatureValidator, SchemaValidator
from hivemind.optim.progress_tracker import TrainingProgressSchema
from hivemind.utils import ValueWithExpiration, get_dht_time

from core.swarm.dht.contributions import slot_of
from core.swarm.dht.credible_progress import Claim, claims_in, credible_epoch


@dataclass(frozen=True)
class PeerProgress:
    """What one peer reports."""

    peer: bytes
    """Its peer id, as it says."""
    epoch: int
    samples: int
    """Towards the next update."""
    samples_per_second: float


@dataclass(frozen=True)
class RunProgress:
    """What all peers together report."""

    epoch: int = 0
    samples: int = 0
    """Towards the next update."""
    peers: tuple[bytes, ...] = ()
    """Ids of those that add samples."""
    samples_per_second: float = 0.0
    slots: Mapping[bytes, PeerProgress] = field(default_factory=dict)
    """Every trainer's report, by its slot in the DHT; also of peers on hold, not of auxiliary ones."""


class RunMonitor:
    """Reads the records that hivemind's trackers publish, and keeps others from publishing malformed ones here."""

    def __init__(self, dht: DHT, run_id: str) -> None:
        self._dht = dht
        self._key = f"{run_id}_progress"
        dht.add_validators([SchemaValidator(TrainingProgressSchema, prefix=run_id), RSASignatureValidator()])

    def read(self, epoch: int = 0) -> RunProgress:
        """What is credible of it. `epoch` is where the run is for certain."""
        found = self._dht.get(self._key, latest=True)
        reported = claims_in(found.value if isinstance(found, ValueWithExpiration) else None, get_dht_time())
        epoch = credible_epoch(epoch, reported, epoch)
        trainers = [claim for claim in reported if claim.epoch <= epoch and not claim.is_auxiliary]
        active = [claim for claim in trainers if claim.adds_samples]
        return RunProgress(
            epoch=max((claim.epoch for claim in trainers), default=0),
            samples=sum(claim.samples for claim in active if claim.epoch == epoch),
            peers=tuple(sorted(claim.peer for claim in active)),
            samples_per_second=sum(claim.samples_per_second for claim in active),
            slots={slot_of(claim.slot): _progress(claim) for claim in trainers},
        )


def _progress(claim: Claim) -> PeerProgress:
    return PeerProgress(claim.peer, claim.epoch, claim.samples, claim.samples_per_second)

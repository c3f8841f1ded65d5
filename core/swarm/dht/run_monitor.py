"""The progress that the peers of a run report, read without reporting any."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hivemind import DHT
from hivemind.dht.schema import RSASignatureValidator, SchemaValidator
from hivemind.optim.progress_tracker import LocalTrainingProgress, TrainingProgressSchema
from hivemind.utils import ValueWithExpiration

from core.swarm.dht.contributions import slot_of
from core.swarm.dht.progress_tracker import adds_samples, is_auxiliary


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

    def read(self) -> RunProgress:
        found = self._dht.get(self._key, latest=True)
        if not isinstance(found, ValueWithExpiration) or not isinstance(found.value, dict):
            return RunProgress()
        reported = {
            slot: LocalTrainingProgress.parse_obj(entry.value)
            for slot, entry in found.value.items()
            if entry.value and not is_auxiliary(entry.value)
        }
        records = list(reported.values())
        active = [record for record in records if adds_samples(record.dict())]
        epoch = max((record.epoch for record in records), default=0)
        return RunProgress(
            epoch=epoch,
            samples=sum(record.samples_accumulated for record in active if record.epoch == epoch),
            peers=tuple(sorted(record.peer_id for record in active)),
            samples_per_second=sum(record.samples_per_second for record in active),
            slots={slot_of(subkey): _reported(record) for subkey, record in reported.items()},
        )


def _reported(record: LocalTrainingProgress) -> PeerProgress:
    return PeerProgress(record.peer_id, record.epoch, record.samples_accumulated, record.samples_per_second)

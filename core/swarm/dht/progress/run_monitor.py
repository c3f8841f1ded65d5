"""The progress that the peers of a run report, read without reporting any."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hivemind import DHT
from hivemind.dht.schema import SchemaValidator
from hivemind.optim.progress_tracker import TrainingProgressSchema
from hivemind.utils import get_dht_time

from core.swarm.dht.contributions import slot_of
from core.swarm.dht.progress.credible_progress import PeerReport, credible_epoch, reports_in
from core.swarm.dht.records import read_records


@dataclass(frozen=True)
class RunProgress:
    """What all peers together report."""

    epoch: int = 0
    samples: int = 0
    """Towards the next update."""
    peers: tuple[bytes, ...] = ()
    """Ids of those that add samples."""
    samples_per_second: float = 0.0
    slots: Mapping[bytes, PeerReport] = field(default_factory=dict)
    """Every trainer's report, by its slot in the DHT; also of peers on hold, not of auxiliary ones."""


class RunMonitor:
    """Reads the records that hivemind's trackers publish, and keeps others from publishing malformed ones here."""

    def __init__(self, dht: DHT, run_id: str) -> None:
        self._dht = dht
        self._key = f"{run_id}_progress"
        dht.add_validators([SchemaValidator(TrainingProgressSchema, prefix=run_id)])

    def read(self, epoch: int = 0) -> RunProgress:
        """What is credible of it. `epoch` is where the run is for certain."""
        reported = reports_in(read_records(self._dht, self._key), get_dht_time())
        epoch = credible_epoch(epoch, reported, epoch)
        trainers = [report for report in reported if report.epoch <= epoch and not report.is_auxiliary]
        active = [report for report in trainers if report.adds_samples]
        return RunProgress(
            epoch=max((report.epoch for report in trainers), default=0),
            samples=sum(report.samples_accumulated for report in active if report.epoch == epoch),
            peers=tuple(sorted(report.peer_id for report in active)),
            samples_per_second=sum(report.samples_per_second for report in active),
            slots={slot_of(report.slot): report for report in trainers},
        )

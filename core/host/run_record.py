"""The organiser's signed word about where the run is, renewed in the DHT."""

from pathlib import Path

from hivemind import DHT

from core.swarm.dht.organiser import LASTS, OrganiserRecords, identity_key


class RunRecordPublisher:
    """Of one backbone, which signs with its identity: peers know that from the manifest."""

    def __init__(self, dht: DHT, run_id: str, identity: Path) -> None:
        self._records = OrganiserRecords(dht, run_id, (dht.peer_id,))
        self._key = identity_key(identity)
        self._published = (-1, 0.0)

    def publish(self, epoch: int, now: float) -> None:
        """Vouch for `epoch`, if that is new or has not been said for a while. `now` is UTC seconds."""
        before, at = self._published
        if epoch != before or not at <= now < at + LASTS / 6:
            self._published = epoch, now
            self._records.publish(epoch, self._key)

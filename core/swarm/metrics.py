"""What peers tell the backbone about themselves: one signed record a peer in the DHT, replaced every epoch.

Self-reported and checked for form only: the learning curve takes means of it, nobody is paid by it.
"""

from collections.abc import Iterator

from hivemind import DHT
from hivemind.dht.schema import BytesWithPublicKey, RSASignatureValidator, SchemaValidator
from hivemind.utils import get_dht_time
from pydantic.v1 import BaseModel, StrictFloat, confloat, conint

_EXPIRATION = 300.0
"""Seconds until a silent peer's record is forgotten."""


class PeerMetrics(BaseModel):
    """One peer's last finished epoch."""

    epoch: conint(ge=1, strict=True)  # type: ignore[valid-type]
    """That began with the update."""
    loss: StrictFloat
    """Mean over the peer's own samples."""
    samples: conint(ge=1, strict=True)  # type: ignore[valid-type]
    samples_per_second: confloat(ge=0.0, strict=True)  # type: ignore[valid-type]


class _MetricsSchema(BaseModel):
    metrics: dict[BytesWithPublicKey, PeerMetrics]


class MetricsBoard:
    """The records of one run. Every peer needs one, or it refuses to store the others' records unchecked."""

    def __init__(self, dht: DHT, run_id: str) -> None:
        self._dht = dht
        self._key = f"{run_id}_metrics"
        signature = RSASignatureValidator()
        self._own_key = signature.local_public_key
        dht.add_validators([SchemaValidator(_MetricsSchema, prefix=run_id), signature])

    def publish(self, metrics: PeerMetrics) -> None:
        """Replace this peer's record; does not wait for the peers that keep it."""
        self._dht.store(
            self._key,
            subkey=self._own_key,
            value=metrics.dict(),
            expiration_time=get_dht_time() + _EXPIRATION,
            return_future=True,
        )

    def read(self) -> Iterator[tuple[bytes, PeerMetrics]]:
        """Every peer's last record with the key that signed it."""
        found = self._dht.get(self._key, latest=True)
        for subkey, record in found.value.items() if found is not None else ():
            yield subkey, PeerMetrics.parse_obj(record.value)

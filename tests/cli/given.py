"""What an engine answers in the tests of the verbs."""

from core.api.record.record import Contribution
from core.api.snapshot import Progress, Session, Snapshot, Traffic

HALF_AN_HOUR = Contribution(
    1800.0, 12_000, 12, 1, 3, 1700.0, uploaded=34_000_000, downloaded=12_000_000,
    session=1, project="bees", hour=1_760_000_400.0,
)  # fmt: skip
ACTIVE = Snapshot(
    state="contributing",
    project="bees",
    project_name="Bees",
    wanted=True,
    progress=Progress(epoch=17, samples=1234, loss=4.3, peers=5, samples_per_second=8.2, target_batch_size=4096),
    traffic=Traffic(34_000_000, 12_000_000, 1_200_000.0, 300_000.0),
    session=Session(77, 1_760_000_000.0),
    engine_pid=4242,
)


def the_line(text: str) -> str:
    """The one line there must be."""
    assert text.count("\n") == 1
    assert text.endswith("\n")
    return text.strip()

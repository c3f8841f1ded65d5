"""Totals of what this command has seen, summed from snapshots. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.text.formats import amounts, numbers
from app.text.i18n import tr
from core.api.snapshot import Snapshot


@dataclass(frozen=True)
class SessionTotals:
    """Sums since the first snapshot. Counters that start again (a new session, midnight) only ever add."""

    sums: Mapping[str, float] = field(default_factory=dict)
    _last: Mapping[str, float] | None = None

    def after(self, snapshot: Snapshot) -> "SessionTotals":
        """With the difference between the last snapshot and this one."""
        counters = _counters(snapshot)
        before = self._last if self._last is not None else counters
        sums = {
            name: self.sums.get(name, 0) + (value - before[name] if value >= before[name] else value)
            for name, value in counters.items()
        }
        return SessionTotals(sums, counters)

    def sentence(self) -> str:
        """The last line of `contribute`."""
        if not self.sums.get("samples"):
            return tr("Nothing was given this time.")
        samples, epochs = int(self.sums["samples"]), int(self.sums["epochs"])
        uploaded, downloaded = numbers.size(self.sums["uploaded"]), numbers.size(self.sums["downloaded"])
        given = amounts.samples(samples)
        if epochs:
            given = tr("{samples} towards {epochs}", samples=given, epochs=amounts.epochs(epochs))
        return tr(
            "Given: {given} in {time}; {sent} sent, {received} received.",
            given=given,
            time=numbers.duration(self.sums["seconds"]),
            sent=uploaded,
            received=downloaded,
        )


def _counters(snapshot: Snapshot) -> dict[str, float]:
    return {
        "samples": snapshot.today.samples,
        "seconds": snapshot.today.seconds,
        "epochs": snapshot.today.epochs,
        "uploaded": snapshot.traffic.uploaded,
        "downloaded": snapshot.traffic.downloaded,
    }

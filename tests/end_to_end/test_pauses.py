"""How fast a real session yields: a short form of benchmarks/pauses.py, with room for a busy computer."""

import pytest

from benchmarks.pauses import pause
from benchmarks.practice import contributing


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_pauses_are_acknowledged_at_once_and_computing_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    # The helper sets it for the processes it starts; this puts back what was there.
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    with contributing() as practice:
        results = [pause(practice) for _ in range(5)]
        samples = practice.snapshot().progress.samples
    assert samples > 0
    assert sorted(acknowledged for acknowledged, _, _ in results)[2] < 0.05
    assert sorted(stopped for _, stopped, _ in results)[2] < 1.0
    assert sorted(idle for _, _, idle in results)[2] < 0.1

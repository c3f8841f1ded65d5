"""The practice project under a real engine in a profile of its own, for benchmarks."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import NoneType

import psutil

from core.api.intent import Contribute
from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.api.protocol import GetSnapshot, Quit
from core.api.snapshot import Snapshot, State
from core.client.engine_client import EngineClient, ensure_engine
from core.client.profile import Profile

_STARTS_WITHIN = 300.0


class Practice:
    """A volunteer whose engine runs; every process of theirs is known by the profile's folder."""

    def __init__(self, profile: Profile, engine: EngineClient) -> None:
        self.home, self.engine = profile, engine

    def snapshot(self) -> Snapshot:
        return self.engine.request(GetSnapshot(), Snapshot)

    def until(self, state: State, peers: int = 0) -> Snapshot:
        """The snapshot, once the engine is in `state` and `peers` take part."""
        deadline = time.monotonic() + _STARTS_WITHIN
        while (snapshot := self.snapshot()).state != state or snapshot.progress.peers < peers:
            if time.monotonic() > deadline:
                raise SystemExit(f"It was not {state} in time: {snapshot}")
            time.sleep(0.1)
        return snapshot

    def session(self) -> list[psutil.Process]:
        """The processes of trainer and embedded backbone: everything that the engine started."""
        return psutil.Process(self.snapshot().engine_pid).children(recursive=True)

    def processor_seconds(self) -> float:
        """Processor time of the whole session so far."""
        return sum(sum(process.cpu_times()[:2]) for process in self.session())


@contextmanager
def contributing() -> Iterator[Practice]:
    """Contribute to the practice project until the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="hive"))
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    profile = Profile(folder / "home")
    ensure_engine(profile)
    with EngineClient.connect(profile) as engine:
        practice = Practice(profile, engine)
        try:
            # Also beside others who work on this computer.
            engine.request(SetPreference("busy_processor", 0), PreferenceInfo)
            engine.request(Contribute(), NoneType)
            # This trainer and the backbone's: before that one of them is still starting.
            practice.until("contributing", peers=2)
            yield practice
        finally:
            engine.request(Quit(), NoneType)
            shutil.rmtree(folder, ignore_errors=True)

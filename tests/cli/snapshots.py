"""What an engine is doing, as the tests of `contribute` have it."""

import subprocess
from typing import Any

from core.api.snapshot import Progress, Session, Snapshot, Today, Traffic

NOW = 1_760_000_000.0
BEFORE = Snapshot(state="idle", engine_pid=4242, today=Today(epochs=17))
AFTER = Snapshot(state="idle", engine_pid=4242, today=Today(120, 15.0, 19), goals=(1,), goals_reached=1)


def active(epoch: int = 17, samples: int = 0, *, borrowed: bool = True, **others: Any) -> Snapshot:
    return Snapshot(
        state="contributing",
        project="bees",
        project_name="Bees",
        wanted=True,
        borrowed=borrowed,
        borrowings=(1,) if borrowed else (),
        progress=Progress(epoch, samples, 4.3, 5, 8.2, 102.5, 2600, 310, 4096),
        traffic=Traffic(samples * 1000, samples * 500),
        session=Session(77, NOW),
        today=Today(samples, samples / 8, epoch),
        engine_pid=4242,
        **others,
    )


def wait_for_line(process: "subprocess.Popen[str]", text: str) -> None:
    assert process.stdout
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"{text!r} was never said")

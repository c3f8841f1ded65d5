"""What a held session takes of the processor, by process and thread.

A lone peer of the practice project with what a trainer has (DHT, daemon, averagers, monitors, reports) computes
nothing. Run it with `.venv/bin/python -m benchmarks.held [SECONDS]`.
"""

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from core.learning.light_imports import loading

with loading():
    import psutil

    from core.host.project import load
    from core.learning.model import build_model
    from core.swarm.build import make_optimizer
    from core.swarm.dht.peer import join_swarm
    from core.swarm.liveness import Liveness, processes_of
    from core.swarm.patches import install
    from core.swarm.traffic.link import Link
    from core.swarm.traffic.wire_monitor import WireMonitor
    from core.trainer.reporter import Reporter
    from core.trainer.session_status import Joined, Measurements, SessionStatus
    from tests.fakes.backbone import ScriptedBackbone

SECONDS = 20.0
_SETTLES, _CHECKS_EVERY = 3.0, 0.25
_PRACTICE = Path(__file__).parent.parent / "resources" / "practice"


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with tempfile.TemporaryDirectory(prefix="hive") as folder:
        manifest = load(_PRACTICE / "project.toml").manifest(Path(folder), ())
        link = Link()
        install(Path(folder), link)
        dht = join_swarm([], Path(folder) / "identity")
        WireMonitor(link, dht).start()
        optimizer = make_optimizer(
            dht=dht,
            run_id=manifest.run_id,
            parameters=build_model(manifest).parameters(),
            training=manifest.training,
            averaging=manifest.averaging,
            backbone=ScriptedBackbone(),
        )
        joined = Joined(optimizer, manifest.training.target_batch_size, 0)
        reporter = Reporter(os.open(os.devnull, os.O_WRONLY))
        reporter.report(SessionStatus(Measurements(link), joined, "holding").report)
        liveness = Liveness(processes_of(dht, optimizer), lambda _name: None)
        optimizer.hold()
        time.sleep(_SETTLES)
        processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
        before, end = [threads(process.pid) for process in processes], time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(_CHECKS_EVERY)
            optimizer.give_up_rounds()
        tell([threads(process.pid) for process in processes], before, seconds)
        liveness.stop()
        reporter.stop()
        optimizer.shutdown()
        dht.shutdown()


def threads(pid: int) -> dict[int, float]:
    """Processor seconds of each thread (proc(5), schedstat)."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {int(task.name): int((task / "schedstat").read_text().split()[0]) / 1e9 for task in tasks}


def tell(now: list[dict[int, float]], before: list[dict[int, float]], seconds: float) -> None:
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    total = 0.0
    for number, (after, then) in enumerate(zip(now, before, strict=True)):
        shares = {thread: 100 * (spent - then.get(thread, 0.0)) / seconds for thread, spent in after.items()}
        total += sum(shares.values())
        print(f"{'trainer' if number == 0 else 'other':8} {sum(shares.values()):6.3f} %")
        for thread, share in sorted(shares.items(), key=lambda item: -item[1])[:4]:
            if thread in names:
                print(f"  {names[thread]:32} {share:6.3f} %")
    print(f"all      {total:6.3f} % of a core")


if __name__ == "__main__":
    main()

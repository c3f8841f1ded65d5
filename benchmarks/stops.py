"""How soon a trainer stops computing in the middle of a microbatch, for models that take long for one.

Run it with `.venv/bin/python -m benchmarks.stops [STOPS]`: a model as the practice project's and a wide one, with
microbatches of a tenth of a second and of a second. A thread asks to stop at random moments; measured is the time until
the training thread has given the microbatch up.
"""

import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.copies import widened
from benchmarks.pauses import tell
from core.learning.light_imports import loading

with loading():
    import torch

    from core.api.project.manifest import Manifest
    from core.host.project import load
    from core.learning.data import training_samples
    from core.learning.model import build_model
    from core.learning.order import Order
    from core.learning.tasks import task_for
    from core.trainer.microbatch import Microbatches, Stopped

STOPS = 50
WIDTHS, SECONDS = (128, 1024), (0.1, 1.0)
PRACTICE = Path(__file__).parent.parent / "resources" / "practice"


def main() -> None:
    stops = int(sys.argv[1]) if len(sys.argv) > 1 else STOPS
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="hive") as folder:
        practice = load(PRACTICE / "project.toml").manifest(Path(folder), ())
    for width in WIDTHS:
        manifest = widened(practice, width)
        per_sample = compute(manifest, 4, lambda: False).compute(0, 0).seconds / 4
        for seconds in SECONDS:
            size = max(1, round(seconds / per_sample))
            asked = threading.Event()
            work = compute(manifest, size, asked.is_set)
            taken = work.compute(0, 0).seconds
            delays = [stop(work, asked, taken) for _ in range(stops)]
            print(f"hidden size {width}, {size} samples, {1000 * taken:.0f} ms a microbatch, {stops} stops")
            tell("given up after", [1000 * delay for delay in delays], "ms")


def compute(manifest: Manifest, size: int, is_unwanted: Callable[[], bool]) -> Microbatches:
    model = build_model(manifest)
    task = task_for(manifest, model.config, PRACTICE / "tokenizer.json")
    samples = partial(training_samples, manifest.data, sorted(PRACTICE.glob("train-*.txt")))
    return Microbatches(Order(task, samples, size, "run", b"peer"), model, torch.device("cpu"), is_unwanted)


def stop(work: Microbatches, asked: threading.Event, taken: float) -> float:
    """Seconds from asking, at a random moment of a microbatch, to its end."""
    asked.clear()
    at = 0.0

    def ask() -> None:
        nonlocal at
        at = time.perf_counter()
        asked.set()

    timer = threading.Timer(random.uniform(0.0, taken), ask)
    timer.start()
    try:
        while True:
            work.compute(0, 0)
    except Stopped:
        return time.perf_counter() - at
    finally:
        timer.join()


if __name__ == "__main__":
    main()

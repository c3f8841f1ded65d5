"""Epochs that two volunteers make in so many seconds, beside a third one that is honest, and then while it attacks.

Usage, as root: python -m tests.network.lineups.attacked_run SECONDS
"""

import sys
import time

from tests.network.lineups.measured_run import MeasuredRun, measured_run


def main() -> None:
    seconds = float(sys.argv[1])
    with measured_run([{}, {}, {}], hostile=[2]) as run:
        print(f"no attack: {_epochs(run, seconds)} epochs in {seconds:g} s")
        run.attack()
        print(f"attack: {_epochs(run, seconds)} epochs in {seconds:g} s")


def _epochs(run: MeasuredRun, seconds: float) -> list[int]:
    """That the honest volunteers have made."""
    honest = run.volunteers[:2]
    before = [volunteer.seen[-1].epoch for volunteer in honest]
    time.sleep(seconds)
    return [volunteer.seen[-1].epoch - epoch for volunteer, epoch in zip(honest, before, strict=True)]


if __name__ == "__main__":
    main()

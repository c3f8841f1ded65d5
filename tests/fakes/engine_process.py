"""The real engine with scripted programs: `python -m tests.fakes.engine_process TRAINER.py HOST.py [--blind]`."""

import sys

from core.conditions.machine import Machine
from core.engine.__main__ import main
from core.engine.session.commands import Programs


def run(trainer: str, host: str, *options: str) -> int:
    """`--blind`: it knows nothing of what the machine is doing."""
    programs = Programs([sys.executable, trainer], [sys.executable, host])
    return main(programs, Machine({}) if "--blind" in options else None)


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))

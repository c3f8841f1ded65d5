"""`python -m core.runtime.launch FOLDER MODULE ...`: this process becomes that module, with the libraries in FOLDER."""

import os
import sys
from pathlib import Path

from core.client.installation import core_environment
from core.runtime.store import RuntimeStore, libraries


def main(folder: Path, module: list[str]) -> None:
    """Does not return."""
    runtime = RuntimeStore(folder).current
    if runtime is None:
        sys.exit("The compute runtime is not installed: `idlehive runtime install` does it.")
    os.execve(sys.executable, [sys.executable, "-P", "-m", *module], environment(runtime))


def environment(runtime: Path) -> dict[str, str]:
    """With the libraries of `runtime` behind Idlehive's own."""
    ours = core_environment()
    return {**ours, "PYTHONPATH": f"{ours['PYTHONPATH']}{os.pathsep}{libraries(runtime)}"}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

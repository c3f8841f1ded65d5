"""`python -m core.runtime.launch FOLDER MODULE ...`: this process becomes that module, run by the runtime in FOLDER."""

import os
import sys
from pathlib import Path

from core.runtime.store import RuntimeStore


def main(folder: Path, module: list[str]) -> None:
    """Does not return."""
    runtime = RuntimeStore(folder).current
    if runtime is None:
        sys.exit("The compute runtime is not installed: `idlehive runtime install` does it.")
    python = str(runtime / "bin" / "python")
    os.execv(python, [python, "-P", "-m", *module])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

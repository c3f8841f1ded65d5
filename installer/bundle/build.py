"""`python3 -m installer build deb|portable|dmg|exe`: packages for volunteers."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from installer.bundle import deb, portable
from installer.bundle.macos import dmg
from installer.bundle.windows import setup
from installer.checkout import Checkout
from installer.failure import CommandFailed, SetUpFailed, explain

_BUILDERS: dict[str, Callable[[Checkout, Path, str, int], Path]] = {
    "deb": deb.build,
    "portable": portable.build,
    "dmg": dmg.build,
    "exe": setup.build,
}
KINDS = tuple(_BUILDERS)
_NO_COMMIT = 1_700_000_000
"""The time of files where neither the environment nor a commit gives one."""


def build(checkout: Checkout, kind: str, out: Path, version: str | None = None) -> Path:
    """Build a package of this kind into the folder `out`; `version` replaces the project's. Raises SetUpFailed."""
    out.mkdir(parents=True, exist_ok=True)
    version = version or str(checkout.pyproject["project"]["version"])
    try:
        return _BUILDERS[kind](checkout, out.resolve(), version, built_at(checkout))
    except CommandFailed as failed:
        raise SetUpFailed(
            f"{explain(failed.output, f'build {kind}', checkout.root)}\nDetails: {checkout.log}"
        ) from failed


def built_at(checkout: Checkout) -> int:
    """SOURCE_DATE_EPOCH, else the time of the last commit: the same sources get the same times."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    log = ["git", "-C", str(checkout.root), "log", "-1", "--format=%ct"]
    found = subprocess.run(log, capture_output=True, text=True, check=False)
    return int(found.stdout) if found.returncode == 0 and found.stdout.strip() else _NO_COMMIT

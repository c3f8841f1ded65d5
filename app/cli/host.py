"""host: an organiser's backbone. core.host has its texts; this only starts it."""

import os
import sys

from core.client.engine_client import core_command, core_environment

SUMMARY = "run the backbone of a project, as its organiser"


def run(arguments: list[str]) -> int:
    """Become `core.host`: signals and the exit code are its own. Does not return."""
    sys.stdout.flush()
    os.execve(sys.executable, core_command("core.host", *arguments), core_environment())

"""macOS: a launch agent of the user's, read at the next login."""

import plistlib
from collections.abc import Mapping, Sequence
from pathlib import Path


def folder(user: Path) -> Path:
    return user / "Library" / "LaunchAgents"


def text(label: str, command: Sequence[str], variables: Mapping[str, str]) -> str:
    agent = {
        "Label": label,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(variables),
        "RunAtLoad": True,
        "ProcessType": "Interactive",
    }
    return plistlib.dumps(agent).decode()

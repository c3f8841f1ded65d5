"""Windows: a batch file in the user's Startup folder."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def folder(environment: Mapping[str, str]) -> Path:
    return Path(environment["APPDATA"]) / "Microsoft" / "Windows" / "Start Menu" / "Programs" / "Startup"


def text(command: Sequence[str], variables: Mapping[str, str]) -> str:
    settings = [f'set "{name}={_escaped(value)}"' for name, value in variables.items()]
    # An empty title first: `start` would take a quoted program for one.
    begin = f'start "" {_escaped(subprocess.list2cmdline(command))}'
    return "\r\n".join(("@echo off", *settings, begin, ""))


def _escaped(value: str) -> str:
    return value.replace("%", "%%")

"""Stands for wsl.exe while it is set up: its state is the JSON file that WSL_STATE names, its answers are UTF-16.

What it cannot know of the real one it takes from Microsoft's "Basic commands for WSL": the table of `--list --verbose`,
and that most failures have the exit code 1.
"""

import io
import json
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

from core.client.wsl import DISTRIBUTION, HOME

_STATE = Path(os.environ.get("WSL_STATE", ""))


def main(arguments: list[str]) -> int:
    state: dict[str, Any] = json.loads(_STATE.read_text())
    state["calls"].append(arguments)
    try:
        return _answer(arguments, state)
    finally:
        _STATE.write_text(json.dumps(state))


def _answer(arguments: list[str], state: dict[str, Any]) -> int:
    refusal = state["refuses"].pop(arguments[0], None)
    if refusal is not None:
        return _say(refusal[1], refusal[0])
    match arguments:
        case ["--status"]:
            return _say(
                "Default Version: 2" if state["installed"] else "not installed", 0 if state["installed"] else 50
            )
        case ["--install", "--no-distribution"]:
            state["installed"] = not state["needs_restart"]
            return _say("The requested operation is successful.")
        case ["--list", "--verbose"]:
            rows = [f"  {name}    Stopped    {number}" for name, number in state["distributions"].items()]
            return _say("\r\n".join(["  NAME    STATE    VERSION", *rows]))
        case ["--import", name, folder, image, "--version", "2"]:
            with tarfile.open(image) as archive:
                state["unpacked"] = archive.getnames()[0]
            Path(folder).mkdir(parents=True)
            state["distributions"][name] = 2
            return 0
        case ["--set-version", name, "2"]:
            state["distributions"][name] = 2
            return 0
        case ["--unregister", name]:
            del state["distributions"][name]
            return 0
        case ["-d", distribution, *rest]:
            assert distribution == DISTRIBUTION
            assert state["distributions"].get(distribution) == 2
            return _inside(rest, state)
    raise AssertionError(arguments)


def _inside(arguments: list[str], state: dict[str, Any]) -> int:
    words = " ".join(arguments)
    if words == f"--exec {HOME}/idlehive --version":
        print(state["unpacked"])
        return 0 if state["unpacked"] else 1
    if arguments[:4] == ["-u", "root", "--exec", "/bin/sh"]:
        with tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read()), mode="r:") as archive:
            state["unpacked"] = archive.getnames()[0]
        return 0
    if "nvidia-smi" in words:
        print(*state["gpus"], sep="\n")
        return 0 if state["gpus"] else 1
    assert "core.runtime" in arguments, arguments
    state["proxy"] = sys.stdin.buffer.readline().decode()
    print(*state["reports"], sep="\n", flush=True)
    return 0


def _say(text: str, code: int = 0) -> int:
    sys.stdout.buffer.write(f"{text}\r\n".encode("utf-16-le"))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

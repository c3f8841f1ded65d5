"""Stands for wsl.exe: the distribution is this machine, with other files where Idlehive's are in the real one.

WSL_HOME and WSL_DATA name them. As with the real one, only variables that WSLENV names reach the command, what runs
in the distribution is no part of wsl.exe's process group, and killing wsl.exe only takes its input and its parent away.
Needs root.
"""

import os
import subprocess
import sys

from core.client.wsl import DATA, DISTRIBUTION, HOME

_ENTER = """
set -e
mount -t tmpfs tmpfs /opt
mount -t tmpfs tmpfs /var/lib
mkdir "$1" "$2"
mount --rbind "$WSL_HOME" "$1"
mount --bind "$WSL_DATA" "$2"
cd "$3"
shift 3
exec env --ignore-environment "$@"
"""


def main() -> int:
    distribution, name, cd, folder, execute, *command = sys.argv[1:]
    assert [distribution, name, cd, execute] == ["-d", DISTRIBUTION, "--cd", "--exec"], sys.argv
    passed = ["PATH=/usr/bin:/bin", "HOME=/root"]
    passed += [f"{name}={os.environ[name]}" for name in filter(None, os.environ.get("WSLENV", "").split(":"))]
    enter = ["unshare", "--mount", "--propagation", "private", "setsid", "sh", "-c", _ENTER, "sh", HOME, DATA, folder]
    return subprocess.run([*enter, *passed, *command], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

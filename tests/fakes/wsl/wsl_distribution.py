"""Stands for wsl.exe with a real root file system: what is imported is unpacked, and commands run in it by chroot.

WSL_ROOT is the folder for it. As with the real one, its commands get only the variables that WSLENV names, are in no
process group of its own, and end with their input. Folders of this machine that WSL_SHARED names have the same paths in
it, as Windows' drives are below /mnt. Needs root.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from core.client.wsl import DISTRIBUTION

ROOT = Path(os.environ["WSL_ROOT"])
_SHARED = [Path(path) for path in os.environ.get("WSL_SHARED", "").split(":") if path]
_ENTER = """
set -e
cd "$1"
shift
mount -t proc proc proc
mount --rbind /dev dev
for shared in $WSL_SHARED_PATHS; do mkdir -p ".$shared"; mount --bind "$shared" ".$shared"; done
exec chroot . "$@"
"""


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--status"]:
            return 0
        case ["--list", "--verbose"]:
            rows = [f"* {DISTRIBUTION}    Running    2"] if ROOT.exists() else []
            sys.stdout.buffer.write("\r\n".join(["  NAME    STATE    VERSION", *rows, ""]).encode("utf-16-le"))
            return 0
        case ["--import", name, folder, image, "--version", "2"]:
            assert name == DISTRIBUTION
            Path(folder).mkdir(parents=True)
            return _import(image)
        case ["--unregister", name]:
            assert name == DISTRIBUTION
            shutil.rmtree(ROOT)
            return 0
        case ["-d", name, *rest]:
            assert name == DISTRIBUTION
            return _run(rest)
    raise AssertionError(arguments)


def _import(image: str) -> int:
    with tarfile.open(image) as archive:
        archive.extractall(ROOT, filter="fully_trusted")  # noqa: S202 - it is our own
    # What WSL looks for, and what it writes.
    assert (ROOT / "etc").is_dir()
    assert (ROOT / "bin/sh").exists()
    for name in ("resolv.conf", "hosts"):
        shutil.copyfile(f"/etc/{name}", ROOT / "etc" / name)
    # The certificates that this machine trusts, such as those of its proxy.
    shutil.copyfile("/etc/ssl/certs/ca-certificates.crt", ROOT / "etc/ssl/certs/ca-certificates.crt")
    return 0


def _run(options: list[str]) -> int:
    place, command = options.index("--exec"), options[options.index("--exec") + 1 :]
    folder = options[options.index("--cd") + 1] if "--cd" in options[:place] else "/"
    passed = [f"{name}={os.environ[name]}" for name in filter(None, os.environ.get("WSLENV", "").split(":"))]
    enter = ["unshare", "--mount", "--propagation", "private", "setsid", "sh", "-c", _ENTER, "sh", str(ROOT)]
    inside = ["/usr/bin/env", "-i", f"--chdir={folder}", "PATH=/usr/bin:/bin", "HOME=/root", *passed]
    environment = {**os.environ, "WSL_SHARED_PATHS": " ".join(map(str, _SHARED))}
    return subprocess.run([*enter, *inside, *command], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

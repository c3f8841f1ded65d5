"""A clean Debian in a folder: packages are installed there as on a volunteer's computer."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

PERSON = "volunteer"
_SKIPPED = ("proc", "sys", "dev", "tmp", "run", "wheels", "packages", "var/cache", "var/log", "var/lib/apt")
"""Folders that are no part of the installed system, or that apt itself keeps."""


class CleanRoot:
    """Made by mmdebstrap; `close` unmounts and deletes it. Needs root."""

    def __init__(self, folder: Path, suite: str) -> None:
        self.folder = folder
        self._mounts: list[Path] = []
        include = "--include=ca-certificates,procps,xvfb,xauth,xdotool,dbus,util-linux"
        command = ["mmdebstrap", "--variant=minbase", include, suite, str(folder)]
        subprocess.run(command, check=True, capture_output=True)
        for path in ("proc", "dev", "sys"):
            self._mount(Path("/") / path, path)
        for path in ("etc/resolv.conf", "etc/hosts"):
            shutil.copyfile(Path("/") / path, folder / path)
        # The certificates that this machine trusts, such as those of its proxy.
        shutil.copyfile("/etc/ssl/certs/ca-certificates.crt", folder / "etc/ssl/certs/ca-certificates.crt")
        self.run("useradd", "--create-home", "--shell", "/bin/bash", PERSON)

    def close(self) -> None:
        for path in reversed(self._mounts):
            subprocess.run(["umount", "--lazy", path], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def lend(self, folder: Path, name: str) -> str:
        """Make a folder of this machine visible in the root, and return its path there."""
        self._mount(folder, name)
        return f"/{name}"

    def run(self, *command: str, check: bool = True, **variables: str) -> str:
        """Run a command as root in it; its output."""
        return self._run(["chroot", str(self.folder), *command], check=check, **variables)

    def as_person(self, *command: str, check: bool = True, **variables: str) -> str:
        """Run a command as an ordinary user."""
        return self._run(self.person_command(*command), check=check, **variables)

    def person_command(self, *command: str) -> list[str]:
        return ["chroot", str(self.folder), "runuser", "-u", PERSON, "--", *command]

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name.lower().endswith("_proxy") or name == "SSL_CERT_FILE"
        }
        usual = {
            "HOME": f"/home/{PERSON}",
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        return {**usual, **kept, **variables}

    def files(self) -> set[str]:
        """All paths of the installed system and of its people."""
        found: set[str] = set()
        for folder, folders, names in os.walk(self.folder):
            relative = os.path.relpath(folder, self.folder)
            folders[:] = [name for name in folders if os.path.normpath(f"{relative}/{name}") not in _SKIPPED]
            found.update(os.path.normpath(f"{relative}/{name}") for name in (*folders, *names))
        return found

    def processes(self) -> list[str]:
        """Command lines of what runs in it as the person."""
        listed = subprocess.run(["ps", "-eo", "user:20,args"], capture_output=True, text=True, check=True).stdout
        number = self.run("id", "-u", PERSON).strip()
        return [line for line in listed.splitlines() if line.startswith((number, PERSON)) and "idlehive" in line]

    def _run(self, command: list[str], *, check: bool, **variables: str) -> str:
        done = subprocess.run(
            command,
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout[-4000:]}"
        return done.stdout

    def _mount(self, source: Path, name: str) -> None:
        target = self.folder / name
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--rbind" if name in ("dev", "sys", "proc") else "--bind", source, target], check=True)
        if name in ("dev", "sys", "proc"):
            subprocess.run(["mount", "--make-rslave", target], check=True)
        self._mounts.append(target)


def new(before: Iterable[str], after: Iterable[str]) -> list[str]:
    return sorted(set(after) - set(before))

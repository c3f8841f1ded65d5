"""A clean Debian or Ubuntu in a folder: packages are installed there as on a volunteer's computer."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import psutil

PERSON = "volunteer"
UBUNTU = ("jammy", "noble", "resolute")
"""22.04, 24.04 and 26.04, which mmdebstrap verifies with `UBUNTU_KEYS`, the file of Ubuntu's package ubuntu-keyring."""
UBUNTU_KEYS = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
_SKIPPED = ("proc", "sys", "dev", "tmp", "run", "wheels", "packages", "var/cache", "var/log", "var/lib/apt")
"""Folders that are no part of the installed system, or that apt itself keeps."""
_CGROUPS = Path("/sys/fs/cgroup/cpu")
_TIME_TO_END = 40.0
"""Seconds that processes have after SIGTERM."""


class CleanRoot:
    """Made by mmdebstrap; `close` unmounts and deletes it. Needs root."""

    def __init__(self, folder: Path, suite: str) -> None:
        self.folder = folder
        self._mounts: list[Path] = []
        self._share = ProcessorShare()
        include = "--include=apt,ca-certificates,procps,xvfb,xauth,xdotool,dbus,util-linux"
        parts = "--components=main,universe" if suite in UBUNTU else "--components=main"
        command = ["mmdebstrap", "--variant=minbase", parts, include, suite, str(folder)]
        subprocess.run(command, check=True, capture_output=True)
        for path in ("proc", "dev", "sys"):
            self._mount(Path("/") / path, path)
        for path in ("etc/resolv.conf", "etc/hosts"):
            shutil.copyfile(Path("/") / path, folder / path)
        # The certificates that this machine trusts, such as those of its proxy.
        shutil.copyfile("/etc/ssl/certs/ca-certificates.crt", folder / "etc/ssl/certs/ca-certificates.crt")
        self.run("useradd", "--create-home", "--shell", "/bin/bash", PERSON)

    def close(self) -> None:
        self.end_all()
        self._share.close()
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

    def start(self, *command: str, output: Path | None = None, **variables: str) -> "subprocess.Popen[bytes]":
        """Start a command as an ordinary user; what it says goes to the file `output`."""
        with (output or Path(os.devnull)).open("wb") as said:
            return subprocess.Popen(
                self._share.command(self.person_command(*command)),
                env=self.environment(**variables),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    def processes(self) -> list[psutil.Process]:
        """What runs in it, whoever started it."""
        return [process for process in psutil.process_iter() if self._has(process)]

    def instances(self) -> list[list[str]]:
        """Command lines of what runs of Idlehive, whose paths name it; not what it was started by."""
        lines = [process.cmdline() for process in self.processes()]
        return [line for line in lines if any("/idlehive" in word or word.startswith("core.") for word in line)]

    def end_all(self) -> None:
        """End what runs in it, each by its number."""
        found = self.processes()
        for process in found:
            process.terminate()
        _, left = psutil.wait_procs(found, _TIME_TO_END)
        for process in {*left, *self.processes()}:
            process.kill()

    def _has(self, process: psutil.Process) -> bool:
        try:
            return Path(f"/proc/{process.pid}/root").readlink() == self.folder
        except OSError:  # it has ended
            return False

    def _run(self, command: list[str], *, check: bool, **variables: str) -> str:
        done = subprocess.run(
            self._share.command(command),
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


class ProcessorShare:
    """A fair part of the processors, as on a computer of its own, by a cgroup (cgroups(7)).

    Sessions run at idle priority: beside other work of this machine they would not get on. Idle priority only counts
    within a cgroup, so in this one they still give way to the window.
    """

    def __init__(self) -> None:
        self._folder: Path | None = _CGROUPS / f"clean-root-{os.getpid()}"
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError:  # cgroups of version 2, or none: then only a quiet machine will do
            self._folder = None

    def command(self, command: list[str]) -> list[str]:
        """The same command, which begins by entering the group."""
        if self._folder is None:
            return command
        return ["sh", "-c", f'echo $$ > {self._folder}/cgroup.procs && exec "$@"', "sh", *command]

    def close(self) -> None:
        """When its processes have ended."""
        if self._folder is not None:
            self._folder.rmdir()


def new(before: Iterable[str], after: Iterable[str]) -> list[str]:
    return sorted(set(after) - set(before))

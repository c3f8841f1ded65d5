"""A real sshd on loopback, run by the present user, and the ssh that reaches it under the name `lab`.

Keys, known hosts, port and configuration are the test's own; nothing of the person's ~/.ssh is read.
"""

import getpass
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from core.client.installation import ROOT
from core.client.profile import Profile
from tests.fakes.http_server import closed_port
from tests.waiting import wait_for

HOST = "lab"
_SSHD = shutil.which("sshd", path="/usr/sbin:/sbin:/usr/bin")
needs_sshd = pytest.mark.skipif(
    not (_SSHD and shutil.which("ssh")), reason="needs sshd: `python3 -m installer setup` installs openssh-server"
)


class SshServer:
    """`idlehive` at the other end is the one of these sources, with the profile `far`."""

    def __init__(self, folder: Path, far: Profile) -> None:
        self.folder = folder
        self._log = folder / "sshd.log"
        self._process: subprocess.Popen[bytes] | None = None
        for key in ("key", "host_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        self.authorized, self.known = folder / "authorized", folder / "known"
        self.authorized.write_text((folder / "key.pub").read_text())
        self.know(folder / "host_key.pub")
        self.idlehive = folder / "there" / "idlehive"
        _script(self.idlehive, f'export PYTHONPATH="{ROOT}"\nexec "{sys.executable}" -P -m app "$@"')
        self.path = folder / "here"
        _script(self.path / "ssh", f'exec {shutil.which("ssh")} -F "{folder}/config" "$@"')
        self._choose_port()
        (folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1\nHostKey {folder}/host_key\nPidFile none\n"
            f"AuthorizedKeysFile {self.authorized}\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            f"SetEnv IDLEHIVE_HOME={far.path} PATH={self.idlehive.parent}:/usr/bin:/bin"
            f" PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring TMPDIR={tempfile.gettempdir()}\n"
        )

    def know(self, public_key: Path) -> None:
        """From now on, this is the host's key as the client knows it."""
        kind, key, *_ = public_key.read_text().split()
        self.known.write_text(f"{HOST} {kind} {key}\n")

    def answer(self, script: str) -> None:
        """What `idlehive` does over there, in the place of the real one."""
        _script(self.idlehive, script)

    def start(self) -> "SshServer":
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # sshd of root insists on it; a service manager makes it elsewhere
        while not self._listens():
            said = self._log.read_text()
            assert "Address already in use" in said, said
            self._choose_port()
        return self

    def _choose_port(self) -> None:
        self.port = closed_port()
        (self.folder / "config").write_text(
            f"Host {HOST}\n  HostName 127.0.0.1\n  Port {self.port}\n  HostKeyAlias {HOST}\n"
            f"  User {getpass.getuser()}\n"
            f"Host *\n  IdentityFile {self.folder}/key\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {self.known}\n  GlobalKnownHostsFile none\n"
        )

    def _listens(self) -> bool:
        """False: it has ended; another process may have taken the port."""
        assert _SSHD
        options = "-D", "-e", "-f", self.folder / "sshd_config", "-p", str(self.port)
        with self._log.open("wb") as log:
            process = subprocess.Popen([_SSHD, *options], stderr=log)
        wait_for(lambda: process.poll() is not None or "Server listening" in self._log.read_text())
        self._process = process if process.poll() is None else None
        return self._process is not None

    def stop(self) -> None:
        """With all its sessions, as if the machine were gone."""
        if self._process is None:
            return
        own = psutil.Process(self._process.pid)
        sessions = own.children(recursive=True)
        for process in (own, *sessions):
            process.kill()
        self._process.wait(10)
        psutil.wait_procs(sessions, 10)
        self._process = None


@contextmanager
def serving_ssh(folder: Path, far: Profile, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    """It runs, and `ssh` of this process and its children finds it."""
    folder.mkdir(exist_ok=True)
    server = SshServer(folder, far)
    monkeypatch.setenv("PATH", f"{server.path}{os.pathsep}{os.environ['PATH']}")
    try:
        yield server.start()
    finally:
        server.stop()


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)

"""Where the programs of a session run: beside the engine or, on Windows, in a distribution of WSL 2."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from core.client import wsl
from core.client.installation import compute_command, core_command
from core.client.profile import Profile


class Here:
    """Beside the engine, with its files."""

    def command(self, profile: Profile, module: str) -> list[str]:
        """The command line of a module of core that computes."""
        return compute_command(profile, module)

    async def start(
        self, program: asyncio.SubprocessProtocol, command: Sequence[str], folder: Path, environment: dict[str, str]
    ) -> None:
        """Start `command` under the subreaper, in the session's `folder`.

        Raises:
            OSError: the process cannot be started.
        """
        # The parent-death signal follows the thread that forks: it must be the event loop's, which does not end.
        await asyncio.get_running_loop().subprocess_exec(
            lambda: program, *self.under_subreaper(folder, command), env=environment, start_new_session=True
        )

    def under_subreaper(self, folder: Path, command: Sequence[str]) -> list[str]:
        return core_command("core.system.subreaper", str(folder), "--", *command)

    def shared(self, path: Path) -> str:
        """How programs there name a file that the engine reads or writes too."""
        return str(path)

    def own(self, path: Path) -> str:
        """The folder there for large files that only sessions use, in place of `path`."""
        return str(path)

    def session_folder(self, folder: Path) -> str:
        return str(folder)


class Unwatched(Here):
    """Beside the engine, without a subreaper: it needs fork, which Windows lacks."""

    def under_subreaper(self, folder: Path, command: Sequence[str]) -> list[str]:  # noqa: ARG002 - nothing to watch
        return list(command)


class InWsl(Here):
    """In the distribution, which `wsl.exe` starts. Standard input and output reach through it.

    Killed, `wsl.exe` closes the session's input and leaves the subreaper there without a parent: it ends the session.
    The practice project's manifest comes over 127.0.0.1, which WSL 2 forwards.
    """

    def __init__(self, program: Sequence[str] = (wsl.WSL,)) -> None:
        self._program = program

    def command(self, profile: Profile, module: str) -> list[str]:  # noqa: ARG002 - the runtime there serves all
        return wsl.compute(module)

    def under_subreaper(self, folder: Path, command: Sequence[str]) -> list[str]:
        return wsl.session(self._program, self.session_folder(folder), command)

    def shared(self, path: Path) -> str:
        return wsl.linux_path(str(path))

    def own(self, path: Path) -> str:
        return f"{wsl.DATA}/{path.name}"

    def session_folder(self, folder: Path) -> str:
        return f"{wsl.SESSIONS}/{folder.name}"

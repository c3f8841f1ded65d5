"""Runs the programs that set-up needs and logs their output."""

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from installer.failure import CommandFailed


class Programs:
    """Runs programs one after the other and keeps a log."""

    def __init__(self, log: Path, working_folder: Path) -> None:
        self._log = log
        self._working_folder = working_folder
        log.parent.mkdir(exist_ok=True)
        log.write_text("", encoding="utf-8")

    def run(
        self,
        command: list[str],
        environment: Mapping[str, str] | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> str:
        """Run `command` to its end and return its output, stderr included.

        `environment` is added to ours. The log contains neither it nor the credentials of an address. `on_line` gets
        each line as it arrives.
        Raises CommandFailed if the program cannot be started or exits with an error.
        """
        lines = []
        with self._log.open("a", encoding="utf-8") as log, self._start(command, environment or {}) as process:
            log.write(f"\n$ {' '.join(command)}\n")
            for written in process.stdout or ():
                lines.append(written)
                log.write(_masked(written))
                log.flush()
                if on_line:
                    on_line(written)
        output = "".join(lines)
        if process.returncode:
            raise CommandFailed(_masked(output))
        return output

    def _start(self, command: list[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
        try:
            return subprocess.Popen(
                command,
                cwd=self._working_folder,
                env={"DEBIAN_FRONTEND": "noninteractive", **os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise CommandFailed(str(error)) from error


def _masked(text: str) -> str:
    return re.sub(r"//[^/@\s]+@", "//****@", text)

"""What went wrong, in one sentence that says what to do."""

import re
from pathlib import Path


class SetUpFailed(Exception):
    """Set-up cannot continue; the text is for the person at the terminal."""


class CommandFailed(Exception):
    """A program that set-up ran ended with an error; `output` is its whole output."""

    def __init__(self, output: str) -> None:
        super().__init__(output[-500:])
        self.output = output


_DISK_FULL = re.compile(r"No space left on device|os error 28|Errno 28|Disk quota exceeded", re.IGNORECASE)
_CERTIFICATE = re.compile(r"certificate verify failed|invalid peer certificate|unknown ?issuer", re.IGNORECASE)
_NETWORK = re.compile(
    r"error sending request|dns error|failed to fetch|could not connect|connection (?:refused|reset|timed out)"
    r"|failed to establish a new connection|max retries exceeded|read timed out|operation timed out"
    r"|temporary failure in name resolution|name or service not known|network is unreachable|no route to host",
    re.IGNORECASE,
)
_NO_PACKAGE = re.compile(
    r"no solution found|no matching distribution found|not found in the (?:package registry|provided package locations)"
    r"|has no (?:wheels|usable wheels|source distribution)|is not a supported wheel",
    re.IGNORECASE,
)
_NO_BUILD = re.compile(
    r"Failed to (?:build|download and build) [`'\"]?([A-Za-z0-9_.=-]+)|Failed building wheel for (\S+)"
)
_HOST = re.compile(r"https?://(?:[^@/\s]*@)?([A-Za-z0-9.-]+(?::\d+)?)|host='([A-Za-z0-9.-]+)'")
_WHERE_IT_RUNS = "Idlehive runs on Linux (x86-64, or arm64 with glibc 2.39) and on Macs with Apple silicon."


def is_disk_full(output: str) -> bool:
    return bool(_DISK_FULL.search(output))


def is_network(output: str) -> bool:
    return bool(_NETWORK.search(output)) and not is_disk_full(output)


def is_missing_package(output: str) -> bool:
    return bool(_NO_PACKAGE.search(output)) and not is_network(output)


def explain(output: str, task: str, root: Path) -> str:
    """A failed program's output in one sentence; `task` completes "Could not ..."."""
    if is_disk_full(output):
        return (
            f"Could not {task}: the disk is full. Idlehive needs about 3 GB (10 GB with CUDA) for {root / '.venv'} "
            "and the package cache; free some space and run the same command again."
        )
    if _CERTIFICATE.search(output):
        return (
            f"Could not {task}: the certificate of {_host(output)} is not trusted here. If a proxy is in between, "
            "tell pip its certificate (pip config set global.cert FILE) and run the same command again."
        )
    if is_network(output):
        return (
            f"Could not {task}: {_host(output)} cannot be reached. Check the network connection (and the proxy, "
            "if there is one) and run the same command again; the files fetched so far are kept."
        )
    if build := _NO_BUILD.search(output):
        return (
            f"Could not {task}: {build[1] or build[2]} has no ready-made package for this machine and cannot be built "
            f"here. {_WHERE_IT_RUNS}"
        )
    if is_missing_package(output):
        return (
            f"Could not {task}: {_missing_package(output)} has no build for this machine and Python. {_WHERE_IT_RUNS}"
        )
    return f"Could not {task}: {_last_line(output)}"


def _missing_package(output: str) -> str:
    """What uv ("Because x==1 has no wheels") or pip ("No matching distribution found for x==1") could not find."""
    named = re.search(r"Because (?:there is no version of )?(\S+==\S+)|distribution found for (\S+)", output)
    return (named[1] or named[2]) if named else "a pinned package"


def _host(output: str) -> str:
    """The last host that the failing program named."""
    hosts = [match[1] or match[2] for match in _HOST.finditer(output)]
    return hosts[-1] if hosts else "the package index"


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "the program printed nothing."

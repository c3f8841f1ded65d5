"""What stopped an installation, from the output of the program that failed. Pure."""

import re

from core.api.message import Message

_DISK_FULL = re.compile(r"no space left on device|os error 28|errno 28|disk quota exceeded", re.IGNORECASE)
_READ_ONLY = re.compile(r"read-only file system|os error 30|permission denied|os error 13", re.IGNORECASE)
_CERTIFICATE = re.compile(r"certificate verify failed|invalid peer certificate|unknown ?issuer", re.IGNORECASE)
_PROXY = re.compile(r"proxy|tunnel error|\b407\b", re.IGNORECASE)
_NETWORK = re.compile(
    r"error sending request|dns error|failed to fetch|could not connect|connection (?:refused|reset|timed out)"
    r"|end of file before message length|error decoding response body"
    r"|timed? ?out|name resolution|network is unreachable|no route to host|request failed",
    re.IGNORECASE,
)
_GARBAGE = re.compile(
    r"hash mismatch|failed to parse|invalid (?:zip|wheel|html|json)|failed to extract|unexpected end|corrupt"
    r"|not found in the|no solution found|has no wheels|content-type|deserializ|failed to deserialize",
    re.IGNORECASE,
)
_WITHOUT_VIRTUALISATION = re.compile(
    r"HCS_E_HYPERV_NOT_INSTALLED|HCS_E_SERVICE_NOT_AVAILABLE|0x80370102|0x80370114|enablevirtualization", re.IGNORECASE
)
_NOT_ALLOWED = re.compile(r"elevation|E_ACCESSDENIED|0x80070005|0x800704c7|ERROR_CANCELLED", re.IGNORECASE)
_CANCELLED, _NEEDS_ELEVATION, _NEEDS_RESTART = 1223, 740, 3010
"""Windows: ERROR_CANCELLED, ERROR_ELEVATION_REQUIRED, ERROR_SUCCESS_REBOOT_REQUIRED."""
_HOST = re.compile(r"https?://(?:[^@/\s]*@)?([A-Za-z0-9.-]+(?::\d+)?)")


def explain(output: str, folder: str) -> Message:
    """The message for a failed program's output; `folder` is where it wrote."""
    host = (_HOST.findall(output) or [""])[-1]
    if _DISK_FULL.search(output):
        return Message("disk_full", {"path": folder})
    if _CERTIFICATE.search(output):
        return Message("runtime_certificate", {"host": host})
    if _NETWORK.search(output) and not re.search(r"hash mismatch", output, re.IGNORECASE):
        return Message("runtime_proxy" if _PROXY.search(output) else "runtime_offline", {"host": host})
    if _GARBAGE.search(output):
        return Message("runtime_wrong_file", {"detail": _cause(output)})
    if _READ_ONLY.search(output):
        return Message("runtime_not_writable", {"path": folder})
    return Message("runtime_failed", {"detail": _cause(output)})


def explain_wsl(output: str, code: int) -> Message:
    """The message for a step of wsl.exe that failed. Sentences are in the language of Windows; codes of errors are not.

    Most failures have the same exit code.
    """
    if code == _NEEDS_RESTART:
        return Message("wsl_restart")
    if _WITHOUT_VIRTUALISATION.search(output):
        return Message("wsl_no_virtualisation")
    if code in (_CANCELLED, _NEEDS_ELEVATION) or _NOT_ALLOWED.search(output):
        return Message("wsl_not_allowed")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return Message("wsl_failed", {"detail": (" ".join(lines[-2:]) or str(code)).rstrip(".")[:300]})


def _cause(output: str) -> str:
    """The last line that names a cause; uv writes the outer error first."""
    lines = [line.strip(" ×╰─▶├│\t") for line in output.splitlines() if line.strip()]
    named = [line for line in lines if line.lower().startswith(("cause", "error", "because"))]
    return re.sub(r"^(cause|error): ", "", (named or lines or [""])[-1]).rstrip(".")[:300]

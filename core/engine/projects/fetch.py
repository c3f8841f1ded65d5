"""Small documents from the network or a file, with every failure as a sentence. Blocks: call it in a thread."""

import ipaddress
import re
from pathlib import Path
from urllib.parse import urlsplit

from core.api.errors import UsageError, WorldError

MANIFEST_CAP = 1 << 20
CURVE_CAP = 4 << 20
SECONDS = 20.0
"""For the whole document; a server that drips is given up."""
_CONNECT, _READ = 5.0, 10.0
_REDIRECTS = 5


def is_url(source: str) -> bool:
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", source) is not None


def from_url(url: str, cap: int) -> tuple[bytes, str]:
    """The document and the address it finally came from, after redirects.

    Raises:
        UsageError: not an address that can be fetched.
        WorldError: the server does not answer, has no such document, or sends more than `cap` bytes.
    """
    import requests

    host = _host(url)
    try:
        with requests.Session() as session:
            session.max_redirects = _REDIRECTS
            # A proxy cannot reach this machine's own loopback.
            session.trust_env = not _is_loopback(host)
            with session.get(url, timeout=(_CONNECT, _READ), stream=True) as answer:
                _check_status(answer.status_code, url)
                return _body(answer, url, cap), answer.url
    except requests.exceptions.SSLError:
        raise WorldError(f"The connection to {host} is not secure: its certificate is not valid.") from None
    except requests.exceptions.Timeout:
        raise WorldError(f"{host} does not answer.") from None
    except requests.exceptions.TooManyRedirects:
        raise WorldError(f"{url} leads in circles.") from None
    except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema):
        raise UsageError(f"{url} is not an address that can be fetched.") from None
    except requests.exceptions.RequestException:
        raise WorldError(f"{host} cannot be reached. Check the address and the connection.") from None


def from_file(name: str, cap: int) -> bytes:
    """A document on disk, by its full path: this process's own folder is not the volunteer's.

    Raises:
        UsageError: there is none, or it is too large.
        WorldError: it cannot be read.
    """
    path = Path(name)
    if not path.is_absolute():
        raise UsageError(f"{name!r} is neither an address nor the full path of a file.")
    try:
        with path.open("rb") as file:
            text = file.read(cap + 1)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise UsageError(f"There is no file {path}.") from None
    except OSError as error:
        raise WorldError(f"{path} cannot be read: {error.strerror}.") from None
    if len(text) > cap:
        raise UsageError(f"{path} is larger than {cap >> 20} MiB; this is not a manifest.")
    return text


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UsageError(f"{url} is not an address that can be fetched.") from None
    if not host or port == 0 or parts.scheme not in ("http", "https"):
        raise UsageError(f"{url} is not an address that can be fetched; it must begin with https:// or http://.")
    if parts.username is not None or parts.password is not None:
        raise UsageError("An address must not hold a user name or a password; what is secret is given as an invite.")
    return host


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_status(status: int, url: str) -> None:
    if status in (404, 410):
        raise WorldError(f"There is nothing at {url} ({status}); check the address.")
    if status in (401, 403):
        raise WorldError(f"{_host(url)} does not give {url} to everybody ({status}).")
    if status != 200:
        raise WorldError(f"{_host(url)} answers with an error ({status}); try again later.")


def _body(answer: "requests.Response", url: str, cap: int) -> bytes:  # type: ignore[name-defined]  # noqa: F821
    body = bytearray()
    for chunk in answer.iter_content(1 << 16):
        body += chunk
        if len(body) > cap:
            raise WorldError(f"{url} is larger than {cap >> 20} MiB, which is not right for what was expected there.")
    return bytes(body)

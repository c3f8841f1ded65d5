"""Reads small documents from the network or a file. What is not async blocks: call it on a thread."""

import logging
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import msgspec

from core.api.decoding import decode
from core.api.errors import UsageError, WorldError, detail_of
from core.api.project.plain_json import printable
from core.engine.machine.threads import in_thread
from core.store.projects import Project
from core.system.reach import Reach, host_in, reach_of

if TYPE_CHECKING:
    from core.system import web

Found = TypeVar("Found")

MANIFEST_CAP = 1 << 20
CURVE_CAP = 4 << 20
SECONDS = 20.0
"""For the whole document, so that a slow server cannot block for ever."""
_CONNECT, _READ = 5.0, 10.0
_log = logging.getLogger(__name__)


def is_url(source: str) -> bool:
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", source) is not None


def reach(project: Project) -> Reach:
    """The servers that the project's manifest may name."""
    peers = project.manifest.initial_peers if project.manifest else ()
    return reach_of(project.source if is_url(project.source) else None, peers)


def from_url(url: str, cap: int, reach: Reach | None = None) -> tuple[bytes, str]:
    """The document, and its address after redirects on the same host.

    `reach` limits the addresses that may be contacted; None, for a URL that the volunteer entered, allows all.

    Raises:
        UsageError: the address cannot be fetched.
        WorldError: the server does not answer, has no such document, sends more than `cap` bytes or sends them too
            slowly, redirects to another server, or may not be contacted.
    """
    # Imported late: the engine seldom fetches anything.
    import requests
    import urllib3

    from core.system import web

    host = _host(url)
    reach = reach or Reach(frozenset({host}))
    deadline = web.Deadline(SECONDS)
    try:
        with deadline:
            document = _document(url, cap, reach, deadline)
        if deadline.passed:
            # A body without a length ends where the connection does.
            raise WorldError("host_silent", host=host)
        return document
    except requests.exceptions.SSLError:
        raise WorldError("certificate_invalid", host=host) from None
    except requests.exceptions.Timeout:
        raise WorldError("host_silent", host=host) from None
    except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema):
        raise UsageError("address_invalid", address=url) from None
    except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError):
        if deadline.passed:
            raise WorldError("host_silent", host=host) from None
        raise WorldError("host_unreachable", host=host) from None


def _document(url: str, cap: int, reach: Reach, deadline: "web.Deadline") -> tuple[bytes, str]:
    from core.system import web

    for _ in range(web.MOST_REDIRECTS + 1):
        with web.ask(url, reach, deadline, (_CONNECT, _READ), {}) as response:
            if not response.is_redirect:
                _check_status(response.status_code, url)
                return b"".join(web.chunks(response, cap)), url
            target = web.redirected(url, response.headers["location"])
        if host_in(target) != host_in(url):
            raise WorldError("redirected_elsewhere", url=url, target=printable(target))
        url = target
    raise WorldError("redirect_loop", address=url)


async def document(url: str, cap: int, reach: Reach, decoder: msgspec.json.Decoder[Found]) -> Found | None:
    """What a backbone says of a run, which front ends can do without: None if it cannot be read."""
    try:
        text, _ = await in_thread(partial(from_url, url, cap, reach), SECONDS)
        return decode(decoder, text)
    except (UsageError, WorldError, TimeoutError, msgspec.DecodeError) as error:
        _log.info("%s could not be read: %s", url, error)
        return None


def from_file(name: str, cap: int) -> bytes:
    """A document on disk, by its absolute path.

    Raises:
        UsageError: there is none, or it is too large.
        WorldError: it cannot be read.
    """
    path = Path(name)
    if not path.is_absolute():
        raise UsageError("source_invalid", source=name)
    try:
        with path.open("rb") as file:
            text = file.read(cap + 1)
    except IsADirectoryError:
        raise UsageError("manifest_is_folder", path=str(path)) from None
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError("file_missing", path=str(path)) from None
    except OSError as error:
        raise WorldError("file_unreadable", path=str(path), detail=detail_of(error)) from None
    if len(text) > cap:
        raise UsageError("manifest_file_too_large", path=str(path), most=cap)
    return text


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UsageError("address_invalid", address=url) from None
    if not host or port == 0 or parts.scheme not in ("http", "https"):
        raise UsageError("address_scheme", address=url)
    if parts.username is not None or parts.password is not None:
        raise UsageError("address_with_password")
    return host


def _check_status(status: int, url: str) -> None:
    if status in (404, 410):
        raise WorldError("nothing_there", address=url, status=status)
    if status in (401, 403):
        raise WorldError("document_refused", address=url, status=status)
    if status != 200:
        raise WorldError("server_error", host=_host(url), status=status)

"""Downloads of the release file and of packages, through the volunteer's proxy. Nothing sent names the computer."""

from collections.abc import Callable

import requests
import urllib3

from core.api.errors import WorldError
from core.api.project.plain_json import printable
from core.system import web
from core.system.reach import Reach, host_in

_TIMEOUTS = (10.0, 30.0)
_CHUNK = 1 << 16
_HEADERS = {"User-Agent": "Idlehive", "Accept": "*/*", "Connection": "close"}
"""The same for all volunteers: without version, system and language."""


def fetch(url: str, most: int, seconds: float, write: Callable[[bytes], object]) -> None:
    """Pass a document on, piece by piece.

    Parameters:
        most: bytes; `write` gets no more.
        seconds: for the whole document.

    Raises:
        WorldError: the server does not answer, does not have it, or sends more or too slowly.
    """
    host = host_in(url)
    if not url.startswith(("http://", "https://")) or not host:
        raise WorldError("release_address_wrong", address=printable(url))
    with web.Deadline(seconds) as deadline:
        try:
            with _response(url, Reach(frozenset({host})), deadline) as response:
                _pass_on(response, most, write)
        except requests.exceptions.SSLError:
            raise WorldError("certificate_invalid", host=host) from None
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError):
            raise WorldError("host_silent" if deadline.passed else "host_unreachable", host=host) from None
        if deadline.passed:  # a body without a length ends where the connection does
            raise WorldError("host_silent", host=host)


def _response(url: str, reach: Reach, deadline: web.Deadline) -> requests.Response:
    """After redirects, also to other servers: what they send is verified in any case."""
    for _ in range(web.MOST_REDIRECTS + 1):
        response = web.ask(url, reach, deadline, _TIMEOUTS, _HEADERS)
        if not response.is_redirect:
            return response
        response.close()
        url = web.redirected(url, response.headers["location"])
    raise WorldError("too_many_redirects", most=web.MOST_REDIRECTS, url=printable(url))


def _pass_on(response: requests.Response, most: int, write: Callable[[bytes], object]) -> None:
    if response.status_code != 200:
        raise WorldError("server_error", host=host_in(response.url), status=response.status_code)
    size = 0
    while chunk := response.raw.read1(_CHUNK, decode_content=False):
        size += len(chunk)
        if size > most:
            raise WorldError("reply_too_large", address=printable(response.url), most=most)
        write(chunk)
    if response.raw.length_remaining:
        raise urllib3.exceptions.ProtocolError("The connection was cut.")

"""Downloads of the release file and of packages, through the volunteer's proxy. Nothing sent names the computer."""

from collections.abc import Callable

import requests
import urllib3

from core.api.errors import WorldError
from core.api.project.plain_json import printable
from core.system import web
from core.system.reach import Reach, host_in

_TIMEOUTS = (10.0, 30.0)
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
    reach = Reach(frozenset({host}))
    with web.Deadline(seconds) as deadline:
        try:
            with web.follow(url, lambda url: web.ask(url, reach, deadline, _TIMEOUTS, _HEADERS)) as response:
                if response.status_code != 200:
                    raise WorldError("server_error", host=host_in(response.url), status=response.status_code)
                for chunk in web.chunks(response, most):
                    write(chunk)
        except requests.exceptions.SSLError:
            raise WorldError("certificate_invalid", host=host) from None
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError):
            raise WorldError("host_silent" if deadline.passed else "host_unreachable", host=host) from None
        if deadline.passed:  # a body without a length ends where the connection does
            raise WorldError("host_silent", host=host)

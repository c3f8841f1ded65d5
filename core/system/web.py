"""GET requests to servers that are not trusted, for engine and trainer.

A server chooses its redirects, its pace, and through DNS the address behind its name. So a name is resolved once and
the connection goes to the address that was checked, the body of a redirect is never read, and a deadline ends the
connection itself.
"""

import os
import socket
from contextlib import suppress
from threading import Lock, Timer
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, NameResolutionError

from core.api.errors import WorldError
from core.api.project.plain_json import printable
from core.system.reach import Reach, host_in, is_nearby, literal

MOST_REDIRECTS = 5
_MOST_ADDRESSES = 4
"""Of one name that are tried."""


class Deadline:
    """Ends the connections that are still open after `seconds`, whatever the server sends meanwhile."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._handles: list[socket.socket] = []
        self._lock = Lock()
        self._timer = Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            for handle in self._handles:
                handle.close()
            self._handles.clear()

    def watch(self, connection: socket.socket) -> None:
        # A second descriptor: TLS takes the first one away from its socket.
        with self._lock:
            self._handles.append(socket.socket(fileno=os.dup(connection.fileno())))
        if self.passed:
            self._end()

    def _end(self) -> None:
        self.passed = True
        with self._lock:
            for handle in self._handles:
                with suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)


def ask(
    url: str, reach: Reach, deadline: Deadline, timeouts: tuple[float, float], headers: dict[str, str]
) -> requests.Response:
    """The response to one GET, its body still to be read; a redirect is not followed.

    Raises:
        requests.RequestException: no answer.
        WorldError: the address is private.
    """
    host = host_in(url)
    if literal(host) and not reach.allows(host, host):
        raise private(host)
    session = _Session()
    # A proxy cannot reach this computer's own addresses, nor those of its network.
    session.trust_env = not is_nearby(host)
    # Otherwise requests sends what the volunteer's ~/.netrc says of the host.
    session.auth = _no_auth
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(reach, deadline))
    headers = {"Accept-Encoding": "identity", **headers}
    return session.get(url, headers=headers, stream=True, timeout=timeouts)


def redirected(url: str, location: str) -> str:
    """Where the server of `url` sends its clients.

    Raises:
        WorldError: that is no http or https URL, or less secure than `url`.
    """
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        allowed = parts.scheme in ("http", "https") and parts.port != 0 and parts.username is None
    except ValueError:
        target, allowed = location, False
    if not allowed or (urlsplit(url).scheme == "https" and urlsplit(target).scheme == "http"):
        raise WorldError("bad_redirect", target=printable(target))
    return target


def private(host: str) -> WorldError:
    return WorldError("private_address", host=printable(host))


class _Session(requests.Session):
    """Does not follow redirects by itself: it would read the redirect's body first, however large."""

    def get_redirect_target(self, resp: requests.Response) -> None:  # noqa: ARG002 - requests' own name
        return None


class _Adapter(HTTPAdapter):
    """Makes every direct connection itself. Behind a proxy of the volunteer's, the proxy does."""

    def __init__(self, reach: Reach, deadline: Deadline) -> None:
        self._reach, self._deadline = reach, deadline
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        reach, deadline = self._reach, self._deadline

        class Checked(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return _connected(self, super()._new_conn, reach, deadline)

        class CheckedSecure(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return _connected(self, super()._new_conn, reach, deadline)

        class Pool(HTTPConnectionPool):
            ConnectionCls = Checked

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = CheckedSecure

        self.poolmanager.pool_classes_by_scheme = {"http": Pool, "https": SecurePool}


def _connected(connection: HTTPConnection, connect: Any, reach: Reach, deadline: Deadline) -> socket.socket:
    """A connection to an address that was checked; the name stays what the certificate has to show."""
    name = connection._dns_host
    failure: HTTPError | OSError | None = None
    try:
        for address in _addresses(connection, name.strip("[]"), reach):
            connection._dns_host = address
            try:
                made: socket.socket = connect()
            except (HTTPError, OSError) as error:
                failure = error
                continue
            deadline.watch(made)
            return made
    finally:
        connection._dns_host = name
    raise failure or private(name)


def _addresses(connection: HTTPConnection, name: str, reach: Reach) -> list[str]:
    try:
        found = socket.getaddrinfo(name, connection.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise NameResolutionError(name, connection, error) from None  # type: ignore[arg-type]
    addresses = dict.fromkeys(str(entry[4][0]) for entry in found)
    return [address for address in addresses if reach.allows(name, address)][:_MOST_ADDRESSES]


def _no_auth(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request

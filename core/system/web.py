"""GET requests to servers that are not trusted, for engine and trainer.

A server chooses its redirects, its pace, and through DNS the address behind its name. So a name is resolved once and
the connection goes to the address that was checked, the body of a redirect is never read, and a deadline ends the
connection itself.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from threading import Lock, Timer
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import requests
import socks
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.contrib.socks import SOCKSConnection, SOCKSHTTPSConnection
from urllib3.exceptions import HTTPError, NameResolutionError, ProtocolError
from urllib3.poolmanager import ProxyManager

from core.api.errors import WorldError
from core.api.project.plain_json import printable
from core.api.proxy import SCHEMES, with_remote_names
from core.system import proxy
from core.system.reach import Reach, host_in, is_nearby, literal

Connect = Callable[[], socket.socket]

MOST_REDIRECTS = 5
_CHUNK = 1 << 16
_REFUSES = 407
"""Status of a proxy that asks for a name and a password."""
_MOST_ADDRESSES = 4
"""Of one name that are tried."""


class ProxyFailed(WorldError):
    """The proxy does not serve; another try may succeed."""


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
        ProxyFailed: the proxy does not answer, or does not let the volunteer through.
        WorldError: the address is private, or there is no usable proxy where one is wanted.
    """
    host = host_in(url)
    if literal(host) and not reach.allows(host, host):
        raise private(host)
    session = _Session()
    session.trust_env = not is_nearby(host)
    # Otherwise requests sends what the volunteer's ~/.netrc says of the host.
    session.auth = _no_auth
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(reach, deadline))
    headers = {"Accept-Encoding": "identity", **headers}
    through = proxy_for(url)
    proxies = dict.fromkeys(("http", "https"), through)
    try:
        response = session.get(url, headers=headers, stream=True, timeout=timeouts, proxies=proxies)
    except requests.exceptions.ProxyError as error:
        # Of a tunnel for https only the words of the error have the status. A port may have the same digits.
        refuses = f"Tunnel connection failed: {_REFUSES}" in str(error)
        raise ProxyFailed("proxy_refuses" if refuses else "proxy_unreachable", proxy=host_in(through)) from None
    except requests.ConnectionError as error:
        if kind := _socks_failure(error):
            raise ProxyFailed(kind, proxy=host_in(through)) from None
        raise
    if through and response.status_code == _REFUSES:
        response.close()
        raise ProxyFailed("proxy_refuses", proxy=host_in(through))
    return response


def proxy_for(url: str) -> str:
    """The URL of the proxy that requests for `url` pass, perhaps with a password; empty: none.

    Raises:
        WorldError: there is none where one is wanted, or it is none for HTTP.
    """
    # A proxy cannot reach this computer's own addresses, nor those of its network.
    if is_nearby(host_in(url)) or proxy.in_use().choice == "none":
        return ""
    if proxy.in_use().choice == "own":
        found = proxy.in_use().url
    elif proxy.in_environment():
        found = requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url)) or ""
    else:
        found = proxy.of_desktop(url)
    if not found and proxy.in_use().choice == "own":
        raise WorldError("proxy_missing")
    found = with_remote_names(found)
    scheme, separator, _ = found.partition("://")
    if separator and scheme not in SCHEMES:
        raise WorldError("proxy_scheme", scheme=scheme)
    return found


def follow(url: str, ask: Callable[[str], requests.Response]) -> requests.Response:
    """What `ask` answers after redirects, also to other servers.

    Raises:
        WorldError: a wrong redirect, or too many of them.
    """
    for _ in range(MOST_REDIRECTS + 1):
        response = ask(url)
        if not response.is_redirect:
            return response
        response.close()
        url = redirected(url, response.headers["location"])
    raise WorldError("too_many_redirects", most=MOST_REDIRECTS, url=printable(url))


def chunks(response: requests.Response, most: int) -> Iterator[bytes]:
    """The body, as it comes.

    Raises:
        urllib3.exceptions.HTTPError: the connection was cut.
        WorldError: it has more than `most` bytes.
    """
    size = 0
    while chunk := response.raw.read1(_CHUNK, decode_content=False):
        size += len(chunk)
        if size > most:
            raise WorldError("reply_too_large", address=printable(response.url), most=most)
        yield chunk
    if response.raw.length_remaining:
        raise ProtocolError("The connection was cut.")


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


def _socks_failure(error: BaseException | None) -> str:
    """What a SOCKS proxy itself failed at; empty: it works, and cannot reach the server."""
    while error is not None and not isinstance(error, socks.ProxyError):
        wrapped = error.args[0] if error.args and isinstance(error.args[0], BaseException) else None
        error = wrapped or error.__cause__ or error.__context__
    while isinstance(error, socks.ProxyError) and isinstance(error.socket_err, socks.ProxyError):
        error = error.socket_err
    if isinstance(error, socks.SOCKS5AuthError):
        return "proxy_refuses"
    return "proxy_unreachable" if isinstance(error, socks.ProxyConnectionError | socks.GeneralProxyError) else ""


class _Session(requests.Session):
    """Does not follow redirects by itself: it would read the redirect's body first, however large."""

    def get_redirect_target(self, resp: requests.Response) -> None:  # noqa: ARG002 - requests' own name
        return None


class _Adapter(HTTPAdapter):
    """Makes every direct connection itself. A proxy of the volunteer's resolves names itself; the deadline holds."""

    def __init__(self, reach: Reach, deadline: Deadline) -> None:
        self._reach, self._deadline = reach, deadline
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        checked = partial(_connected, reach=self._reach, deadline=self._deadline)
        self.poolmanager.pool_classes_by_scheme = _pools(checked)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> ProxyManager:
        manager: ProxyManager = super().proxy_manager_for(proxy, **kwargs)
        watched = partial(_watched, deadline=self._deadline)
        kinds = (SOCKSConnection, SOCKSHTTPSConnection) if proxy.startswith("socks") else ()
        manager.pool_classes_by_scheme = _pools(watched, *kinds)
        return manager


def _pools(
    connected: Callable[[HTTPConnection, Connect], socket.socket],
    plain: type[HTTPConnection] = HTTPConnection,
    secure: type[HTTPSConnection] = HTTPSConnection,
) -> dict[str, type[HTTPConnectionPool]]:
    """urllib3's pools, whose connections `connected` makes."""

    class Plain(plain):  # type: ignore[misc, valid-type]  # a class is a value here
        def _new_conn(self) -> socket.socket:
            return connected(self, super()._new_conn)

    class Secure(secure):  # type: ignore[misc, valid-type]  # likewise
        def _new_conn(self) -> socket.socket:
            return connected(self, super()._new_conn)

    class Pool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": Pool, "https": SecurePool}


def _watched(_connection: HTTPConnection, connect: Connect, *, deadline: Deadline) -> socket.socket:
    made = connect()
    deadline.watch(made)
    return made


def _connected(connection: HTTPConnection, connect: Connect, *, reach: Reach, deadline: Deadline) -> socket.socket:
    """A connection to an address that was checked; the name stays what the certificate has to show."""
    name = connection._dns_host
    failure: HTTPError | OSError | None = None
    try:
        for address in _addresses(connection, name.strip("[]"), reach):
            connection._dns_host = address
            try:
                made = connect()
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

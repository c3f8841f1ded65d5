"""Requests through a proxy: the volunteer's, the system's, or none."""

import datetime as dt
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from core.api.errors import WorldError
from core.api.proxy import Proxy
from core.engine.projects import fetch
from core.system import proxy, web
from core.system.reach import Reach
from tests.fakes.http_server import FakeServer, answer, refusing_port, serving, stalled
from tests.fakes.proxy_server import proxy_to
from tests.fakes.socks_server import socks_to

CAP = 1000
NAME = "project.example"
"""Nobody can resolve it, so only a proxy gets there."""


@pytest.fixture(autouse=True)
def own_choice(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for variable in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)
    yield
    proxy.use(Proxy())
    proxy.use_desktop(lambda _url: "")
    proxy.of_desktop("")


def own(server: FakeServer, user: str = "", password: str | None = None) -> Proxy:
    at = f"{user}@" if user else ""
    return Proxy("own", f"http://{at}127.0.0.1:{server.server_address[1]}", password)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving(answer(200, b"{}")) as running:
        yield running


def port(server: FakeServer) -> int:
    return int(server.server_address[1])


def test_everything_that_is_fetched_passes_the_volunteers_proxy_with_name_and_password(server: FakeServer) -> None:
    with proxy_to(port(server), "ann", "p@ss/word") as through:
        proxy.use(own(through, "ann", "p@ss/word"))
        assert fetch.from_url(f"http://{NAME}/m.json", CAP) == (b"{}", f"http://{NAME}/m.json")
        assert server.seen[0]["host"] == NAME
        assert "proxy-authorization" not in server.seen[0]


def test_what_is_near_is_asked_directly(server: FakeServer) -> None:
    with serving(answer(500)) as through:
        proxy.use(own(through))
        assert fetch.from_url(server.url("m.json"), CAP)[0] == b"{}"
        assert not through.seen


def test_the_systems_proxy_is_used_unless_the_volunteer_wants_none(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy_to(port(server)) as through:
        monkeypatch.setenv("http_proxy", through.url(""))
        assert fetch.from_url(f"http://{NAME}/m.json", CAP)[0] == b"{}"
        proxy.use(Proxy("none"))
        with pytest.raises(WorldError, match="host_unreachable"):
            fetch.from_url(f"http://{NAME}/m.json", CAP)
        assert len(through.seen) == 1


def test_an_own_proxy_goes_before_that_of_the_system(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy_to(port(server)) as through, serving(answer(500)) as other:
        monkeypatch.setenv("http_proxy", other.url(""))
        monkeypatch.setenv("no_proxy", "*")
        proxy.use(own(through))
        assert fetch.from_url(f"http://{NAME}/m.json", CAP)[0] == b"{}"
        assert not other.seen


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_refuses_is_named_without_the_password(server: FakeServer, scheme: str) -> None:
    with proxy_to(port(server), "ann", "right") as through:
        proxy.use(own(through, "ann", "wrong-one"))
        with pytest.raises(WorldError, match="proxy_refuses") as refused:
            fetch.from_url(f"{scheme}://{NAME}/m.json", CAP)
        assert refused.value.message.params == {"proxy": "127.0.0.1"}


def test_a_proxy_on_a_port_with_the_digits_of_a_refusal_only_does_not_answer() -> None:
    with refusing_port(range(40700, 40800)) as nobody:
        proxy.use(Proxy("own", f"http://127.0.0.1:{nobody}"))
        with pytest.raises(WorldError, match="proxy_unreachable"):
            fetch.from_url(f"http://{NAME}/m.json", CAP)


def test_without_its_proxy_nothing_is_asked_directly(server: FakeServer) -> None:
    with refusing_port() as nobody:
        chosen = Proxy("own", f"http://127.0.0.1:{nobody}", "secret")
        for proxied, kind in ((chosen, "proxy_unreachable"), (Proxy("own"), "proxy_missing")):
            proxy.use(proxied)
            with pytest.raises(WorldError, match=kind):
                fetch.from_url(f"http://{NAME}:{port(server)}/m.json", CAP)
    assert not server.seen


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_a_socks_proxy_is_passed_with_name_and_password_and_looks_up_the_names(server: FakeServer, scheme: str) -> None:
    with socks_to(port(server), "ann", "p@ss/word") as through:
        proxy.use(Proxy("own", f"{scheme}://ann@127.0.0.1:{through.server_address[1]}", "p@ss/word"))
        assert fetch.from_url(f"http://{NAME}/m.json", CAP)[0] == b"{}"
        assert through.asked == [NAME]


def test_https_passes_a_socks_proxy_and_the_certificate_is_the_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = certified(tmp_path, NAME)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with secure(certificate) as secure_port, socks_to(secure_port) as through, web.Deadline(5.0) as deadline:
        proxy.use(Proxy("own", f"socks5://127.0.0.1:{through.server_address[1]}"))
        assert web.ask(f"https://{NAME}/data.bin", Reach(), deadline, (2.0, 2.0), {}).content == b"secure"


def test_each_fault_of_a_socks_proxy_is_told_from_that_of_the_server(server: FakeServer) -> None:
    with socks_to(port(server), "ann", "right") as through, refusing_port() as nobody, socks_to(0) as cut_off:
        for at, kind in (
            (f"ann@127.0.0.1:{through.server_address[1]}", "proxy_refuses"),
            (f"127.0.0.1:{nobody}", "proxy_unreachable"),
            (f"127.0.0.1:{port(server)}", "proxy_unreachable"),
            (f"127.0.0.1:{cut_off.server_address[1]}", "host_unreachable"),
        ):
            proxy.use(Proxy("own", f"socks5://{at}", "wrong"))
            with pytest.raises(WorldError, match=kind):
                fetch.from_url(f"http://{NAME}/m.json", CAP)


def test_the_deadline_holds_behind_a_socks_proxy_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "SECONDS", 0.5)
    with serving(stalled(b"x" * 100, 10)) as slow, socks_to(port(slow)) as through:
        proxy.use(Proxy("own", f"socks5://127.0.0.1:{through.server_address[1]}"))
        began = time.monotonic()
        with pytest.raises(WorldError, match="host_silent"):
            fetch.from_url(f"http://{NAME}/m.json", CAP)
        assert time.monotonic() - began < 3.0
        slow.gone.set()


def test_the_desktops_proxy_is_used_where_the_environment_names_none(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy_to(port(server)) as through, serving(answer(500)) as other:
        proxy.use_desktop(lambda _url: through.url(""))
        assert fetch.from_url(f"http://{NAME}/m.json", CAP)[0] == b"{}"
        assert proxy.no_peers() == "no_peers_past_proxy"
        monkeypatch.setenv("http_proxy", through.url(""))
        proxy.use_desktop(lambda _url: other.url(""))
        assert fetch.from_url(f"http://{NAME}/m.json", CAP)[0] == b"{}"
        monkeypatch.delenv("http_proxy")
        proxy.use(Proxy("none"))
        assert proxy.no_peers() == "no_peers"
        assert not other.seen


def test_a_proxy_of_another_kind_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks4://127.0.0.1:1080")
    with pytest.raises(WorldError, match="proxy_scheme"):
        fetch.from_url(f"http://{NAME}/m.json", CAP)


def test_the_deadline_holds_behind_a_proxy_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "SECONDS", 0.5)
    with serving(stalled(b"x" * 100, 10)) as slow, proxy_to(port(slow)) as through:
        proxy.use(own(through))
        began = time.monotonic()
        with pytest.raises(WorldError, match="host_silent"):
            fetch.from_url(f"http://{NAME}/m.json", CAP)
        assert time.monotonic() - began < 3.0
        slow.gone.set()


def test_https_passes_a_tunnel_and_the_certificate_is_the_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = certified(tmp_path, NAME)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with secure(certificate) as secure_port, proxy_to(secure_port, "ann", "pass") as through:
        proxy.use(own(through, "ann", "pass"))
        with web.Deadline(5.0) as deadline:
            response = web.ask(f"https://{NAME}/data.bin", Reach(), deadline, (2.0, 2.0), {})
            assert response.content == b"secure"
        assert through.seen[0]["path"] == f"{NAME}:443"


def test_who_reaches_no_peer_behind_a_proxy_learns_that_it_may_be_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proxy.no_peers() == "no_peers"
    proxy.use(Proxy("own", "http://proxy.example"))
    assert proxy.no_peers() == "no_peers_past_proxy"
    proxy.use(Proxy("system"))
    monkeypatch.setenv("https_proxy", "http://proxy.example")
    assert proxy.no_peers() == "no_peers_past_proxy"
    proxy.use(Proxy("none"))
    assert proxy.no_peers() == "no_peers"


def certified(folder: Path, name: str) -> Path:
    """A file with a key and a certificate of that name, which trusts itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    plain = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *plain) + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


@contextmanager
def secure(certificate: Path) -> Iterator[int]:
    """The port of an https server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(200, b"secure")(self)

        def log_message(self, *arguments: object) -> None:
            """Tests are quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

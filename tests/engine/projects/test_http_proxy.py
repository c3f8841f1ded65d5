"""The volunteer's proxy in the engine: it takes effect at once, and its password is where it belongs."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.api.errors import UsageError, WorldError
from core.api.preferences.commands import PreferenceInfo, ResetPreference, SetPreference
from core.api.preferences.preferences import DEFAULTS
from core.api.project.projects import AddProject, JoinProject, ProjectInfo
from core.api.proxy import PASSWORD, Proxy, checked_address
from core.engine.projects.credentials import Credentials
from core.engine.projects.http_proxy import HttpProxy
from core.system import proxy
from tests.engine.projects.organiser import Organiser
from tests.fakes.http_server import FakeServer
from tests.fakes.keyring_in_memory import FakeKeyring, in_place
from tests.fakes.proxy_server import proxy_to
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for

SECRET = "sesame-4711"
ADDRESS = "http://project.example/m.json"


@pytest.fixture
def organiser() -> Iterator[Organiser]:
    pages = Organiser({})
    pages.publish()
    yield pages
    pages.shutdown()
    pages.server_close()


@pytest.fixture
def through(organiser: Organiser) -> Iterator[FakeServer]:
    with proxy_to(int(organiser.server_address[1]), "ann", SECRET) as server:
        yield server


def choose(engine: RunningEngine, name: str, value: str) -> PreferenceInfo:
    return engine.ask(SetPreference(name, value), PreferenceInfo)


def test_a_project_behind_a_proxy_is_found_as_soon_as_the_proxy_is_set(
    engine: RunningEngine, through: FakeServer
) -> None:
    engine.start()
    choose(engine, "proxy", "own")
    with pytest.raises(WorldError, match="proxy_missing"):
        engine.ask(AddProject(ADDRESS), ProjectInfo)
    choose(engine, "proxy_address", f"ann@127.0.0.1:{through.server_address[1]}")
    with pytest.raises(WorldError, match="proxy_refuses"):
        engine.ask(AddProject(ADDRESS), ProjectInfo)
    assert choose(engine, PASSWORD, SECRET).value == "file"
    assert engine.ask(AddProject(ADDRESS), ProjectInfo).id == "poems"


def test_the_session_gets_the_proxy_and_every_change_of_it(engine: RunningEngine, through: FakeServer) -> None:
    address = f"http://ann@127.0.0.1:{through.server_address[1]}"
    engine.start()
    for name, value in (("proxy", "own"), ("proxy_address", address), (PASSWORD, SECRET)):
        choose(engine, name, value)
    engine.contribute()
    assert engine.heard()[0]["proxy"] == {"choice": "own", "address": address, "password": SECRET}
    choose(engine, "proxy", "none")
    wait_for(lambda: {"type": "UseProxy", "proxy": {"choice": "none", "address": address, "password": None}}
             in engine.heard(), 5.0, "the session to use none")  # fmt: skip


def test_the_password_is_in_no_other_file_and_gone_when_it_is_reset(engine: RunningEngine, through: FakeServer) -> None:
    engine.start()
    choose(engine, "proxy_address", f"ann@127.0.0.1:{through.server_address[1]}")
    choose(engine, "proxy", "own")
    choose(engine, PASSWORD, SECRET)
    engine.ask(JoinProject(ADDRESS), ProjectInfo)
    kept = engine.home.path / "secrets.json"
    files = [path for path in engine.home.path.rglob("*") if path.is_file() and path != kept]
    assert len(files) > 2
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert SECRET in kept.read_text()
    engine.ask(ResetPreference(PASSWORD), PreferenceInfo)
    assert SECRET not in kept.read_text()


@pytest.fixture
def keyring() -> Iterator[FakeKeyring]:
    with in_place() as fake:
        yield fake
    proxy.use(Proxy())


def test_a_session_waits_for_the_keyring_which_may_take_its_time(keyring: FakeKeyring, tmp_path: Path) -> None:
    chosen = {**DEFAULTS, "proxy": "own", "proxy_address": "http://ann@proxy.example", PASSWORD: "keyring"}

    async def scenario() -> None:
        secrets, changes = Credentials(tmp_path), list[Proxy]()
        await secrets.store(PASSWORD, SECRET)
        setting = HttpProxy(secrets, changes.append)
        keyring.gate.clear()
        setting.apply(chosen)
        waiting = asyncio.ensure_future(setting.current())
        await asyncio.sleep(0)
        assert not waiting.done()
        keyring.gate.set()
        assert await waiting == Proxy("own", "http://ann@proxy.example", SECRET)
        assert changes == [await waiting]
        assert (await waiting).url == f"http://ann:{SECRET}@proxy.example"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("proxy.example:3128", "http://proxy.example:3128"),
        ("ann@proxy.example", "http://ann@proxy.example"),
        (" https://proxy.example:443/ ", "https://proxy.example:443"),
        ("socks5://proxy.example:1080", "socks5://proxy.example:1080"),
        ("[2001:db8::1]:3128", "http://[2001:db8::1]:3128"),
    ],
)
def test_an_address_is_completed(typed: str, address: str) -> None:
    assert checked_address(typed) == address


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("http://ann:secret@proxy.example", "proxy_with_password"),
        ("socks4://proxy.example", "proxy_scheme"),
        ("http://", "proxy_address_unclear"),
        ("proxy.example:99999", "proxy_address_unclear"),
        ("http://proxy.example/path", "proxy_address_unclear"),
        ("two words", "proxy_address_unclear"),
    ],
)
def test_what_is_no_address_of_a_proxy_is_refused(typed: str, kind: str) -> None:
    with pytest.raises(UsageError, match=kind):
        checked_address(typed)

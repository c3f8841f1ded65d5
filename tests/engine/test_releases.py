"""The engine's part of new versions: when it asks, what it keeps, what it offers. Process and server are real."""

import asyncio
import os
import shutil
import signal
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from core.api.errors import UsageError
from core.api.installation.release import Offer, ReleaseStatus
from core.api.preferences.preferences import DEFAULTS
from core.api.proxy import Proxy
from core.client.installation import ROOT, Package, Publisher
from core.client.profile import Profile
from core.engine import releases
from core.engine.releases import DAY, Releases
from core.release.order import Done
from core.store.store import Store
from core.system import instances
from tests.fakes.http_server import answer, serving
from tests.release.given import PUBLIC, RELEASE, signed, with_package

NOW = 1_700_000_000.0
CONTENT = b"a package"


async def no_proxy() -> Proxy:
    return Proxy("none")


class Place:
    """A profile with a package whose publisher is a server of the test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.profile = Profile(folder)
        self.profile.prepare()
        self.store = Store(self.profile.database)
        self.now = NOW
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(releases, "VERSION", "0.1.0")

    def releases(self, address: str, kind: str = "deb") -> Releases:
        package = Package(kind, Publisher(address, (PUBLIC,)))
        self._monkeypatch.setattr(releases, "package", lambda: package)
        return Releases(self.profile, self.store.journal, lambda: None, lambda: self.now, no_proxy)

    async def follow(self, found: Releases, *, online: bool | None = True, **preferences: Any) -> bool:
        """Whether that began a check, which is then over."""
        before = found.task
        found.follow(self.now, {**DEFAULTS, **preferences}, online=online)
        if found.task is before or found.task is None:
            return False
        await found.task
        return True


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    made = Place(tmp_path, monkeypatch)
    yield made
    made.store.close()
    shutil.rmtree(made.profile.runtime)


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def test_it_asks_once_a_day_also_after_a_restart_and_also_without_success(place: Place) -> None:
    async def scenario() -> None:
        with serving(answer(500), answer(200, signed(with_package("deb", CONTENT)))) as server:
            found = place.releases(server.url("release.json"))
            assert await place.follow(found)
            assert found.status.failure is not None
            place.now += DAY - 1
            assert not await place.follow(found)
            place.store.journal.flush()
            again = place.releases(server.url("release.json"))
            assert not await place.follow(again)
            place.now += 1
            assert await place.follow(again)
            assert again.status.offer == Offer("9.0.0", RELEASE.changelog, len(CONTENT))
            assert len(server.seen) == 2

    run(scenario)


def test_a_clock_that_was_set_back_does_not_end_the_checks(place: Place) -> None:
    async def scenario() -> None:
        with serving(answer(200, signed())) as server:
            found = place.releases(server.url("release.json"))
            assert await place.follow(found)
            place.now -= 365 * DAY
            assert await place.follow(found)

    run(scenario)


def test_it_does_not_ask_when_switched_off_nor_without_a_network(place: Place) -> None:
    async def scenario() -> None:
        with serving(answer(200, signed())) as server:
            found = place.releases(server.url("release.json"))
            assert not await place.follow(found, check_releases=False)
            assert not await place.follow(found, online=False)
            assert server.seen == []
            await found.check()
            assert found.task is not None
            await found.task
            assert len(server.seen) == 1

    run(scenario)


def test_the_volunteer_may_name_another_copy(place: Place) -> None:
    async def scenario() -> None:
        with serving(answer(200, signed())) as server:
            found = place.releases("http://127.0.0.1:9/")
            assert await place.follow(found, release_address=server.url("copy.json"))
            assert [request["path"] for request in server.seen] == ["/copy.json"]

    run(scenario)


def test_an_older_release_file_is_refused_also_by_the_next_engine(place: Place) -> None:
    async def scenario() -> None:
        older = signed(replace(with_package("deb", CONTENT), number=4, version="9.9.9"))
        with serving(answer(200, signed(with_package("deb", CONTENT))), answer(200, older)) as server:
            assert await place.follow(place.releases(server.url("release.json")))
            place.store.journal.flush()
            place.now += DAY
            found = place.releases(server.url("release.json"))
            assert await place.follow(found)
            assert found.status.failure is not None
            assert found.status.failure.kind == "release_older"
            assert found.status.offer is not None
            assert found.status.offer.version == "9.0.0"

    run(scenario)


@pytest.mark.parametrize(
    "release", [replace(with_package("deb", CONTENT), version="0.1.0"), with_package("portable", CONTENT)]
)
def test_the_same_version_and_that_of_another_package_are_not_offered(place: Place, release: Any) -> None:
    async def scenario() -> None:
        with serving(answer(200, signed(release))) as server:
            found = place.releases(server.url("release.json"))
            assert await place.follow(found)
            assert found.status.failure is None
            assert found.status.offer is None
            with pytest.raises(UsageError, match="release_none"):
                await found.install()

    run(scenario)


def test_a_command_waits_for_the_check_that_runs_and_is_not_lost(place: Place) -> None:
    async def scenario() -> None:
        with serving(answer(200, signed(with_package("deb", CONTENT)))) as server:
            server.behaviours *= 2
            server.behaviours.append(answer(200, CONTENT))
            found = place.releases(server.url("release.json"))
            found.follow(place.now, DEFAULTS, online=True)
            await found.install()
            assert found.task is not None
            await found.task
            assert found.status.file

    run(scenario)


def test_a_package_that_is_installed_by_now_is_deleted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = place.profile.path / "release" / "idlehive_9.0.0_amd64.deb"
    kept.parent.mkdir()
    kept.touch()
    known = msgspec.json.encode(releases.Known(NOW, 5, with_package("deb", CONTENT))).decode()
    place.store.journal.setting("release", known)
    place.releases("http://127.0.0.1:9/")
    assert kept.exists()
    monkeypatch.setattr(releases, "VERSION", "9.0.0")
    place.releases("http://127.0.0.1:9/")
    assert not kept.exists()


def test_a_debian_package_is_downloaded_for_the_administrator(place: Place) -> None:
    async def scenario() -> str:
        with serving(answer(200, signed(with_package("deb", CONTENT)))) as server:
            server.behaviours *= 2
            server.behaviours.append(answer(200, CONTENT))
            found = place.releases(server.url("release.json"))
            assert await place.follow(found)
            await found.install()
            assert found.task is not None
            await found.task
            assert found.status.step is None
            return found.status.file

    assert Path(asyncio.run(scenario())).read_bytes() == CONTENT


def test_after_a_portable_build_was_replaced_all_that_runs_starts_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals: list[Any] = []
    monkeypatch.setattr(instances, "restart", signals.append)
    monkeypatch.setattr(os, "kill", lambda *signal: signals.append(signal))
    done = msgspec.json.encode(Done(release=with_package("portable", CONTENT))).decode()
    monkeypatch.setattr(releases, "core_command", lambda *_: ["echo", done])

    async def scenario() -> None:
        found = place.releases("http://127.0.0.1:9/", "portable")
        assert await place.follow(found)
        assert signals == []
        await found.install()
        assert found.task is not None
        await found.task
        assert signals == [str(ROOT), (os.getpid(), signal.SIGUSR1)]

    run(scenario)


def test_a_process_that_is_killed_is_told_and_nothing_else_changes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "core_command", lambda *_: ["sh", "-c", "kill -9 $$"])

    async def scenario() -> None:
        found = place.releases("http://127.0.0.1:9/")
        assert await place.follow(found)
        assert found.status.failure is not None
        assert found.status.failure.kind == "release_interrupted"

    run(scenario)


def test_a_checkout_and_a_package_without_a_publisher_ask_nobody(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        for package in (None, Package("deb")):
            monkeypatch.setattr(releases, "package", lambda package=package: package)
            found = Releases(place.profile, place.store.journal, lambda: None, lambda: NOW, no_proxy)
            assert not await place.follow(found, release_address="http://127.0.0.1:9/")
            assert found.status == ReleaseStatus()
            with pytest.raises(UsageError, match="release_no_publisher"):
                await found.check()

    run(scenario)

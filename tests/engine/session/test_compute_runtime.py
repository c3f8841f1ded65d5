"""The engine's part of the compute runtime: what it starts, what it reports, when it tries again."""

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.api.proxy import Proxy
from core.client.installation import Package
from core.client.profile import Profile
from core.engine.session import compute_runtime
from core.engine.session.compute_runtime import RuntimeInstaller

NOW = 1_000_000.0
_REPORTS = "import sys; sys.stdout.write(sys.argv[1])"
_OFFLINE = '{"failure": {"kind": "runtime_offline", "params": {"host": "a.example"}}}\n'
_NO_SPACE = '{"failure": {"kind": "runtime_needs_space", "params": {}}}\n'
_PROGRESS = '{"step": "downloading", "done": 5, "total": 10}\n'
Make = Callable[[str], RuntimeInstaller]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """An installer whose process prints this text, in an installation that is a package."""
    profile = Profile(tmp_path)
    profile.prepare()
    monkeypatch.setattr(compute_runtime, "package", lambda: Package("deb"))

    def make(text: str) -> RuntimeInstaller:
        command = [sys.executable, "-c", _REPORTS, text]
        monkeypatch.setattr(compute_runtime, "core_command", lambda *_: command)
        return RuntimeInstaller(profile, lambda: None, lambda: NOW, system_proxy)

    yield make
    shutil.rmtree(profile.runtime)


async def system_proxy() -> Proxy:
    return Proxy()


async def installed(installer: RuntimeInstaller) -> None:
    """Wait for the end of the installation that runs."""
    assert installer.task is not None
    await installer.task


def test_it_is_installed_when_contributing_is_wanted_and_not_before(make: Make) -> None:
    async def scenario() -> None:
        installer = make('{"ready": true}\n')
        assert not installer.status.ready
        installer.follow(NOW, wanted=False, in_session=False)
        assert not installer.is_installing
        installer.follow(NOW, wanted=True, in_session=False)
        assert installer.status.ready is False
        await installed(installer)
        assert installer.status.ready

    asyncio.run(scenario())


@pytest.mark.parametrize(("text", "tried_again"), [(_OFFLINE, True), (_NO_SPACE, False), (_PROGRESS, True)])
def test_what_ends_by_itself_is_tried_again_and_the_rest_waits_for_the_volunteer(
    make: Make, text: str, tried_again: bool
) -> None:
    async def scenario() -> None:
        installer = make(text)
        installer.begin()
        await installed(installer)
        status = installer.status
        assert status.failure is not None
        assert (status.retry_at is not None) is tried_again
        installer.follow(NOW + 1.0, wanted=True, in_session=False)
        assert not installer.is_installing
        installer.follow(NOW + 60.0, wanted=True, in_session=False)
        assert installer.is_installing is tried_again
        await installer.close()

    asyncio.run(scenario())


def test_what_the_volunteer_removed_is_not_installed_again_by_itself(make: Make) -> None:
    async def scenario() -> None:
        installer = make('{"ready": true}\n')
        await installer.remove()
        installer.follow(NOW, wanted=True, in_session=False)
        assert installer.status.removed
        assert not installer.is_installing
        await installer.close()

    asyncio.run(scenario())


def test_what_a_session_uses_is_deleted_after_it(make: Make, tmp_path: Path) -> None:
    async def scenario() -> None:
        installer = make("")
        old = tmp_path / "compute" / "cpu-3.11-old"
        old.mkdir(parents=True)
        await installer.remove()
        installer.follow(NOW, wanted=False, in_session=True)
        await asyncio.sleep(0)
        assert old.exists()
        installer.follow(NOW, wanted=False, in_session=False)
        await installer.close()
        assert not old.exists()

    asyncio.run(scenario())


def test_a_checkout_has_its_own_libraries(tmp_path: Path) -> None:
    installer = RuntimeInstaller(Profile(tmp_path), lambda: None, lambda: NOW, system_proxy)
    assert installer.status.ready

"""The engine's part of the compute runtime: what it starts, what it reports, when it tries again."""

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from core.api.errors import UsageError
from core.api.proxy import Proxy
from core.client.installation import Package
from core.client.profile import Profile
from core.engine.session import compute_runtime
from core.engine.session.compute_runtime import RuntimeInstaller
from core.engine.session.place import Here, InWsl
from core.runtime import in_wsl, plan
from core.runtime.store import PYTHON, RuntimeStore, libraries, locks

NOW = 1_000_000.0
_REPORTS = "import sys; sys.stdout.write(sys.argv[1]); sys.stdout.flush(); sys.argv[2] == 'hangs' and sys.stdin.read()"
_OFFLINE = '{"failure": {"kind": "runtime_offline", "params": {"host": "a.example"}}}\n'
_NO_SPACE = '{"failure": {"kind": "runtime_needs_space", "params": {}}}\n'
_PROGRESS = '{"step": "downloading", "done": 5, "total": 10}\n'
Make = Callable[..., RuntimeInstaller]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """An installer whose process prints this text (and then hangs), in an installation that is a package."""
    profile = Profile(tmp_path)
    profile.prepare()
    monkeypatch.setattr(compute_runtime, "package", lambda: Package("deb"))

    def make(
        text: str,
        then: str = "",
        proxy: Callable[[], Awaitable[Proxy]] = system_proxy,
        place: Here | None = None,
    ) -> RuntimeInstaller:
        command = [sys.executable, "-c", _REPORTS, text, then]
        monkeypatch.setattr(compute_runtime, "core_command", lambda *_: command)
        return RuntimeInstaller(profile, lambda: None, lambda: NOW, proxy, place)

    yield make
    shutil.rmtree(profile.runtime)


async def system_proxy() -> Proxy:
    return Proxy()


@pytest.fixture
def current(tmp_path: Path) -> Path:
    """A runtime that is installed."""
    store = RuntimeStore(tmp_path / "compute")
    runtime = store.folder / f"{plan.name(locks()[0], PYTHON)}-old"
    libraries(runtime).mkdir(parents=True)
    store.switch_to(runtime)
    return runtime


async def downloading(installer: RuntimeInstaller) -> None:
    """Wait until the installation that runs has reported that it downloads."""
    changed = asyncio.Event()
    installer._changed = changed.set
    async with asyncio.timeout(20.0):
        while installer.status.step != "downloading":
            changed.clear()
            await changed.wait()


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


def test_the_present_libraries_are_used_while_they_are_repaired(make: Make, current: Path) -> None:
    async def scenario() -> None:
        installer = make(_PROGRESS, "hangs")
        installer.begin(repair=True)
        await downloading(installer)
        assert installer.status.ready
        await installer.close()

    asyncio.run(scenario())


def test_a_stopped_repair_leaves_what_is_installed(make: Make, current: Path) -> None:
    async def scenario() -> None:
        installer = make(_PROGRESS, "hangs")
        installer.begin(repair=True)
        await downloading(installer)
        await installer.remove(only_stop=True)
        status = installer.status
        assert (status.ready, status.step, status.failure, status.removed) == (True, None, None, False)
        installer.follow(NOW, wanted=True, in_session=False)
        assert not installer.is_installing
        await installer.close()

    asyncio.run(scenario())
    assert RuntimeStore(current.parent).current == current


def test_a_stopped_first_installation_waits_for_the_volunteer(make: Make) -> None:
    async def scenario() -> None:
        installer = make(_PROGRESS, "hangs")
        installer.begin()
        await downloading(installer)
        await installer.remove(only_stop=True)
        assert (installer.status.step, installer.status.removed) == (None, True)
        installer.follow(NOW + 3600.0, wanted=True, in_session=False)
        assert not installer.is_installing
        await installer.close()

    asyncio.run(scenario())


def test_what_was_downloaded_stays_after_a_stop_and_goes_with_a_removal(make: Make, tmp_path: Path) -> None:
    fetched = tmp_path / "compute" / "cache" / "torch"
    fetched.parent.mkdir(parents=True)
    fetched.touch()

    async def scenario() -> None:
        installer = make(_PROGRESS, "hangs")
        for only_stop in (True, False):
            await installer.remove(only_stop=only_stop)
            installer.follow(NOW, wanted=False, in_session=False)
            if installer._sweeping is not None:
                await installer._sweeping
            assert fetched.exists() is only_stop
        await installer.close()

    asyncio.run(scenario())


def test_an_engine_that_ends_does_not_wait_for_the_proxys_password_and_downloads_nothing(make: Make) -> None:
    async def scenario() -> None:
        asked = asyncio.Event()

        async def locked_keyring() -> Proxy:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError("it never answers")

        installer = make(_PROGRESS, "hangs", locked_keyring)
        installer.begin()
        await asked.wait()
        async with asyncio.timeout(5.0):
            await installer.close()
        assert not installer.is_installing
        assert installer.status.step == "preparing"

    asyncio.run(scenario())


def test_an_engine_that_ends_while_the_installation_starts_leaves_no_process(make: Make) -> None:
    async def scenario() -> None:
        installer = make(_PROGRESS, "hangs")
        installer.begin()
        await asyncio.sleep(0)
        async with asyncio.timeout(20.0):
            await installer.close()
        assert not installer.is_installing

    asyncio.run(scenario())


def test_an_interrupted_download_is_kept_and_not_swept_again_and_again(make: Make, tmp_path: Path) -> None:
    (tmp_path / "compute" / "cache").mkdir(parents=True)

    async def scenario() -> None:
        installer = make("")
        installer.follow(NOW, wanted=False, in_session=False)
        assert installer._sweeping is None

    asyncio.run(scenario())


def test_what_a_session_uses_is_deleted_after_it(make: Make, tmp_path: Path) -> None:
    async def scenario() -> None:
        installer = make("")
        old = tmp_path / "compute" / "cpu-3.11-old"
        old.mkdir(parents=True)
        await installer.remove()
        installer.follow(NOW, wanted=False, in_session=True)
        assert installer._sweeping is None
        installer.follow(NOW, wanted=False, in_session=False)
        await installer.close()
        assert not old.exists()

    asyncio.run(scenario())


def test_an_engine_ends_although_wsl_does_not_answer_when_it_is_to_be_removed(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compute" / in_wsl.DISTRIBUTION).mkdir(parents=True)
    monkeypatch.setattr(in_wsl, "_SHORT", 0.5)
    monkeypatch.setenv("WSL_PROGRAM", f"{sys.executable} -c 'import time; time.sleep(600)'")

    async def scenario() -> None:
        installer = make("", place=InWsl())
        await installer.remove()
        installer.follow(NOW, wanted=False, in_session=False)
        async with asyncio.timeout(20.0):
            await installer.close()

    asyncio.run(scenario())


def test_a_checkout_has_its_own_libraries(tmp_path: Path) -> None:
    installer = RuntimeInstaller(Profile(tmp_path), lambda: None, lambda: NOW, system_proxy)
    assert installer.status.ready


def test_wsl_is_set_up_only_after_the_volunteer_has_agreed(make: Make) -> None:
    async def scenario() -> None:
        installer = make('{"ready": true}\n', place=InWsl())
        assert installer.status.needs_consent
        installer.follow(NOW, wanted=True, in_session=False)
        assert not installer.is_installing
        with pytest.raises(UsageError) as refused:
            installer.begin()
        assert refused.value.message.kind == "wsl_needs_consent"
        installer.begin(agreed=True)
        await installed(installer)
        assert installer.status.ready
        await installer.remove()
        assert installer.status.needs_consent

    asyncio.run(scenario())


def test_what_was_agreed_once_holds_for_the_next_try(make: Make) -> None:
    async def scenario() -> None:
        installer = make('{"failure": {"kind": "wsl_restart", "params": {}}}\n', place=InWsl())
        installer.begin(agreed=True)
        await installed(installer)
        assert not installer.status.needs_consent
        again = make('{"ready": true}\n', place=InWsl())
        again.begin()
        await installed(again)
        assert again.status.ready

    asyncio.run(scenario())

"""The installation as a process, with a stand-in for uv that does what each case says."""

import os
import signal
from pathlib import Path

import pytest

from core.api.proxy import Proxy
from core.runtime import failures
from tests.runtime.given import Package
from tests.waiting import wait_for


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


def test_what_is_installed_is_tested_and_then_used(package: Package) -> None:
    assert package.install()["ready"] is True
    assert package.store.current is not None
    # Neither unfinished runtimes nor what was fetched for them stays.
    assert package.folders() == ["cache.asked", "cpu", "current"]
    asked = (package.store.folder / "cache.asked").read_text()
    assert "--require-hashes" in asked
    assert "--no-build" in asked


@pytest.mark.parametrize(
    ("proxy", "used"),
    [
        (Proxy(), "proxy  http://of-the-system.example:1"),
        (Proxy("none"), "proxy  "),
        (Proxy("own", "http://me@own.example:2", "se/cret"), "proxy http://me:se%2Fcret@own.example:2 "),
    ],
)
def test_packages_come_through_the_proxy_that_the_volunteer_chose(package: Package, proxy: Proxy, used: str) -> None:
    assert package.install(proxy, HTTPS_PROXY="http://of-the-system.example:1")["ready"] is True
    assert used in (package.store.folder / "cache.asked").read_text().splitlines()


def test_after_a_power_cut_the_next_start_uses_what_was_fetched(package: Package) -> None:
    process = package.start(UV_HANGS="1")
    wait_for((package.store.cache / "torch").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert package.store.current is None
    assert (package.store.cache / "torch").read_text() == "fetched\n"
    assert package.install()["ready"] is True
    assert package.folders() == ["cache.asked", "cpu", "current"]


def test_it_is_on_the_disk_before_it_is_used(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a power cut soon after leaves files without content."""
    package.install()
    runtime, seen = package.store.current, list[Path | None]()
    assert runtime is not None
    package.store.remove()
    monkeypatch.setattr(os, "sync", lambda: seen.append(package.store.current))
    package.store.switch_to(runtime)
    assert seen == [None]
    assert package.store.current == runtime


def test_a_runtime_that_fails_its_test_does_not_replace_the_one_in_use(package: Package) -> None:
    package.install()
    before = package.store.current
    failed = package.install(TEST_FAILS="1")
    assert failed["failure"]["kind"] == "runtime_failed"
    assert package.store.current == before


def test_repair_replaces_the_runtime_and_the_old_one_stays_until_no_session_uses_it(package: Package) -> None:
    package.install()
    before = package.store.current
    package.install()
    assert package.store.current not in (None, before)
    assert package.store.has_leftovers(keep_cache=True)
    package.store.sweep(keep_cache=False)
    assert before is not None
    assert not before.exists()
    assert not package.store.has_leftovers(keep_cache=False)


def test_an_update_keeps_a_runtime_that_will_do_and_deletes_the_others(package: Package) -> None:
    package.install()
    package.install()
    used = package.store.current
    assert package.install(None, "--update", TEST_FAILS="1")["ready"] is True
    assert package.store.current == used
    assert package.folders() == ["cpu", "current"]
    package.store.remove()
    assert package.install(None, "--update")["ready"] is True
    assert package.store.current not in (None, used)


def test_what_a_session_may_use_stays_however_often_it_is_repaired(package: Package) -> None:
    package.install()
    of_session = package.store.current
    assert of_session is not None
    package.install()
    package.install()
    assert of_session.exists()


def test_after_removal_nothing_is_left_but_the_wish(package: Package) -> None:
    package.install()
    package.store.remove()
    assert package.store.current is None
    package.store.sweep(keep_cache=False)
    assert package.folders() == ["removed"]
    assert package.store.is_removed


@pytest.mark.parametrize(
    ("said", "kind", "host"),
    [
        ("error: Failed to fetch: `https://a.example/simple/`\n  cause: dns error", "runtime_offline", "a.example"),
        ("error sending request for url (https://a.example/)\n cause: tunnel error", "runtime_proxy", "a.example"),
        ("error sending (https://a.example/)\n cause: UnknownIssuer", "runtime_certificate", "a.example"),
        ("error: Failed to extract archive\n  cause: No space left on device (os error 28)", "disk_full", None),
        ("  cause: Hash mismatch for `torch==2.13.0`", "runtime_wrong_file", None),
        ("error: Failed to parse metadata from `https://a.example/x.whl`", "runtime_wrong_file", None),
        ("thread panicked", "runtime_failed", None),
    ],
)
def test_each_cause_has_its_own_message(package: Package, said: str, kind: str, host: str | None) -> None:
    failure = package.install(UV_SAYS=said)["failure"]
    assert failure["kind"] == kind
    assert failure["params"].get("host") == host
    assert package.install()["ready"] is True


def test_a_disk_that_is_too_small_is_noticed_first(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    small = package.root / "sitecustomize.py"
    small.write_text("import shutil\nshutil.disk_usage = lambda path: type('Usage', (), {'free': 5_000_000})\n")
    failure = package.install()["failure"]
    assert (failure["kind"], failure["params"]["free"]) == ("runtime_needs_space", 5_000_000)
    assert not (package.store.folder / "cache.asked").exists()


def test_a_folder_that_cannot_be_written_is_named(package: Package) -> None:
    package.store.folder.parent.joinpath("compute").write_text("a file is in the way")
    assert package.install()["failure"]["params"]


def test_credentials_in_an_address_are_not_repeated() -> None:
    message = failures.explain("error: Failed to fetch: `https://me:secret@pack.example/x`", "/compute")
    assert "secret" not in str(message)

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import keyring
import keyring.errors
import pynvml
import pytest
from msgspec.structs import replace

from app.cli.doctor import checks
from app.cli.doctor import reachable as reachable_module
from core.api.installation.compute_runtime import ComputeRuntime
from core.api.message import Message
from core.api.session_settings import SessionSettings
from core.client.installation import Package
from core.client.profile import Profile
from core.engine.projects.credentials import Credentials
from tests.cli.conftest import RunCli
from tests.cli.given import ACTIVE
from tests.fakes.keyring_in_memory import FakeKeyring, in_place
from tests.fakes.scripted_engine import ScriptedEngine


def test_every_check_says_something_and_nothing_is_created(profile: Profile, run_cli: RunCli) -> None:
    found = json.loads(run_cli("doctor", "--json").stdout)
    names = [finding["name"] for finding in found]
    first = ["python", "packages", "profile", "disk", "engine", "graphics", "keyring", "display", "reachable"]
    assert names[:9] == first
    assert {"presence", "full screen", "power", "network"} <= set(names[9:])
    assert all(finding["level"] in ("ok", "warn", "problem") and finding["text"] for finding in found)
    assert not profile.path.exists()


def test_what_is_wrong_has_an_advice_and_code_1(run_cli: RunCli) -> None:
    done = run_cli("doctor", IDLEHIVE_HOME="/dev/null/profile")
    assert done.returncode == 1
    [line] = [line for line in done.stdout.splitlines() if line.startswith("problem")]
    assert "/dev/null/profile cannot be written" in line
    assert "IDLEHIVE_HOME" in line


def test_a_running_engine_is_found(profile: Profile, engine: ScriptedEngine) -> None:
    assert "Running" in checks.engine(profile)[1].text


def test_an_engine_that_hangs_is_a_problem(
    profile: Profile, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "TIMEOUT", 0.2)
    engine.hanging.set()
    assert checks.engine(profile)[1].level == "problem"


def test_a_package_has_the_libraries_for_training_in_the_profile(
    profile: Profile, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = {"idlehive": "1.2", "msgspec": "0.19", "keyring": "25.7"}
    monkeypatch.setattr(checks, "package", lambda: Package("deb"))
    monkeypatch.setattr(checks, "_version", installed.get)
    failure = Message("runtime_interrupted")
    for runtime, level in (
        (ComputeRuntime(ready=True), "ok"),
        (ComputeRuntime(step="downloading"), "ok"),
        (ComputeRuntime(failure=failure), "problem"),
        (ComputeRuntime(removed=True), "warn"),
    ):
        engine.show(replace(ACTIVE, compute=runtime))
        found = {finding.name: finding for finding in checks.examine(profile)}
        assert found["packages"].level == "ok", found["packages"].text
        assert found["libraries"].level == level
        assert found["libraries"].text


@pytest.mark.parametrize(
    ("firewall", "expected"),
    [
        ("ufw", "sudo ufw allow 31001/tcp"),
        ("firewalld", "sudo firewall-cmd --permanent --add-port=31001/tcp && sudo firewall-cmd --reload"),
        (None, "TCP port 31001"),
    ],
)
def test_calls_that_do_not_arrive_have_the_firewalls_command_as_advice(
    profile: Profile, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, firewall: str | None, expected: str
) -> None:
    monkeypatch.setattr(reachable_module, "firewall", lambda: firewall)
    blocked = replace(ACTIVE, reachability="blocked", settings=SessionSettings(listen_port=31001))
    engine.show(blocked)
    found = reachable_module.reachable(profile)
    assert (found.level, found.text) == ("warn", "Only outgoing connections: none arrives at its port.")
    assert expected in found.advice
    # The router maps any port; a firewall needs one that stays.
    assert "listen_port" in reachable_module.advice(replace(blocked, settings=SessionSettings()))


def test_a_second_router_is_named_and_is_no_problem(profile: Profile, engine: ScriptedEngine) -> None:
    engine.show(replace(ACTIVE, reachability="second_router"))
    found = reachable_module.reachable(profile)
    assert (found.level, found.text) == (
        "ok",
        "Only outgoing connections: another router is between yours and the internet.",
    )
    assert "You need not do anything" in found.advice


def test_an_active_firewall_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachable_module, "UFW", tmp_path / "ufw.conf")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert reachable_module.firewall() is None
    (tmp_path / "firewall-cmd").write_text("#!/bin/sh\nexit 252\n")
    (tmp_path / "firewall-cmd").chmod(0o755)
    assert reachable_module.firewall() is None
    (tmp_path / "firewall-cmd").write_text("#!/bin/sh\necho running\n")
    assert reachable_module.firewall() == "firewalld"
    (tmp_path / "ufw.conf").write_text("ENABLED=no\n")
    assert reachable_module.firewall() == "firewalld"
    (tmp_path / "ufw.conf").write_text("ENABLED=yes\nLOGLEVEL=low\n")
    assert reachable_module.firewall() == "ufw"


def test_a_missing_package_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_NEEDED", ("msgspec", "no-such-package"))
    finding = checks.packages()
    assert finding.level == "problem"
    assert "Missing: no-such-package." in finding.text


def test_a_screen_without_a_tray_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert checks.screen().text == "A display, but no tray."


def test_no_display_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert checks.screen().text == "No display here."


def test_the_graphics_cards_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlShutdown", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlSystemGetDriverVersion", lambda: b"575.1")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", lambda: 1)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda number: number)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetName", lambda _: "RTX 3060")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", lambda _: SimpleNamespace(total=12 * 10**9))
    assert checks.graphics().text == "NVIDIA driver 575.1: RTX 3060, 12.0 GB."


def test_a_driver_that_is_not_loaded_is_no_problem_for_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_DRIVER_NOT_LOADED)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    assert checks.graphics().level == "warn"


def test_a_keyring_that_never_answers_does_not_hold_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    answers = threading.Event()

    def late() -> object:
        answers.wait()
        raise keyring.errors.KeyringError  # ends the check's thread, which outlives this test

    monkeypatch.setattr(checks, "TIMEOUT", 0.1)
    monkeypatch.setattr(keyring, "get_keyring", late)
    try:
        assert checks.secrets().text == "The keyring does not answer."
    finally:
        answers.set()


@pytest.mark.parametrize(
    ("module", "counts"),
    [
        ("keyring.backends.SecretService", True),
        ("keyring.backends.fail", False),
        ("keyring.backends.null", False),
        ("keyrings.alt.file", False),
    ],
)
def test_doctor_and_the_engine_judge_a_keyring_alike(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str, counts: bool
) -> None:
    monkeypatch.setattr(FakeKeyring, "__module__", module)
    with in_place():
        assert checks.secrets().level == ("ok" if counts else "warn")
        assert asyncio.run(Credentials(tmp_path).store("p", "sesame")) == ("keyring" if counts else "file")


def test_a_keyring_that_is_locked_is_found_out_although_it_is_there() -> None:
    with in_place() as fake:
        fake.error = keyring.errors.KeyringLocked("locked")
        assert checks.secrets().text == "The keyring cannot be used (KeyringLocked)."

"""`idlehive limits`."""

import json

import pytest

from core.api.message import Message
from core.api.preferences.commands import ListPreferences, ResetPreference, SetPreference
from tests.cli.conftest import RunCli
from tests.cli.given import the_line
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import info

LIMIT = info("cache_size", 20 * 10**9)


def test_limits_are_shown_in_human_units(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ListPreferences, [LIMIT])
    _, page, row = run_cli("limits").stdout.splitlines()
    assert page == "Storage"
    assert row.split() == ["cache_size", "20", "GB", "20", "GB", "10", "GiB", "64", "MiB", "to", "1", "PiB"]


@pytest.mark.parametrize("value", [("20GB",), ("20", "GB")])
def test_a_limit_is_set_in_bytes(engine: ScriptedEngine, run_cli: RunCli, value: tuple[str, ...]) -> None:
    engine.answer(SetPreference, LIMIT)
    assert the_line(run_cli("limits", "set", "cache_size", *value).stdout) == "cache_size is 20 GB."
    assert engine.received(SetPreference) == [SetPreference("cache_size", 20 * 10**9)]


def test_a_limit_is_reset(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ResetPreference, LIMIT)
    told = json.loads(run_cli("limits", "reset", "cache_size", "--json").stdout)
    assert told.items() >= {
        "name": "cache_size", "value": 20 * 10**9, "default": 10 << 30, "unit": "bytes", "lowest": 64 << 20,
        "highest": 1 << 50, "effective": 20 * 10**9, "page": "storage", "zero": "", "least": 0, "why": None,
    }.items()  # fmt: skip


def test_a_limit_says_which_value_applies_now_and_why(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(SetPreference, info("threads", 4, effective=1, why=Message("gentle_hours")))
    assert the_line(run_cli("limits", "set", "threads", "4").stdout) == "threads is 4; 1 applies now (gentle hours)."
    shown = json.loads(run_cli("limits", "set", "threads", "4", "--json").stdout)
    assert (shown["value"], shown["effective"], shown["why"]) == (4, 1, "gentle hours")


def test_one_limit_is_described(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ListPreferences, [info("threads"), LIMIT])
    lines = run_cli("limits", "show", "cache_size").stdout.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    assert lines[0].startswith("cache_size: ")
    assert lines[-3:] == ["Value: 20 GB", "Default: 10 GiB", "Allowed: 64 MiB to 1 PiB"]
    assert json.loads(run_cli("limits", "show", "cache_size", "--json").stdout)["name"] == "cache_size"
    assert run_cli("limits", "show", "cach_size").returncode == 2


def test_only_changed_limits_are_listed(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ListPreferences, [info("threads"), LIMIT])
    assert [found["name"] for found in json.loads(run_cli("limits", "show", "--changed", "--json").stdout)] == [
        "cache_size"
    ]
    engine.answer(ListPreferences, [info("threads")])
    assert the_line(run_cli("limits", "show", "--changed").stdout) == "All limits have their defaults."


def test_all_limits_are_reset_but_not_the_week(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ListPreferences, [info("threads"), LIMIT, info("week", "." * 336)])
    engine.answer(ResetPreference, info("cache_size"))
    assert the_line(run_cli("limits", "reset", "--all").stdout) == "Reset: cache_size."
    assert engine.received(ResetPreference) == [ResetPreference("cache_size")]
    assert run_cli("limits", "reset").returncode == 2


def test_a_password_is_read_from_standard_input_and_never_from_the_command(
    engine: ScriptedEngine, run_cli: RunCli
) -> None:
    engine.answer(SetPreference, info("proxy_password", "keyring"))
    told = run_cli("limits", "set", "proxy_password", stdin="s3cret word\n").stdout
    assert the_line(told) == "proxy_password is set."
    assert engine.received(SetPreference) == [SetPreference("proxy_password", "s3cret word")]
    refused = run_cli("limits", "set", "proxy_password", "s3cret")
    assert refused.returncode == 2
    assert "s3cret" not in refused.stderr
    assert run_cli("limits", "set", "threads").returncode == 2

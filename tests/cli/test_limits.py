"""`idlehive limits`."""

import json

import pytest

from core.api.preferences.limits import LimitInfo, ResetLimit, SetLimit, ShowLimits
from tests.cli.conftest import RunCli
from tests.cli.given import the_line
from tests.fakes.scripted_engine import ScriptedEngine

LIMIT = LimitInfo("cache_size", 20 * 10**9, 10 << 30, "bytes", 64 << 20, 1 << 50, 20 * 10**9, "storage")


def test_limits_are_shown_in_human_units(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ShowLimits, [LIMIT])
    _, page, row = run_cli("limits").stdout.splitlines()
    assert page == "Disk"
    assert row.split() == ["cache_size", "20", "GB", "20", "GB", "10", "GiB", "from", "64", "MiB", "to", "1", "PiB"]


@pytest.mark.parametrize("value", [("20GB",), ("20", "GB")])
def test_a_limit_is_set_in_bytes(engine: ScriptedEngine, run_cli: RunCli, value: tuple[str, ...]) -> None:
    engine.answer(SetLimit, LIMIT)
    assert the_line(run_cli("limits", "set", "cache_size", *value).stdout) == "cache_size is 20 GB."
    assert engine.received(SetLimit) == [SetLimit("cache_size", 20 * 10**9)]


def test_a_limit_is_reset(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(ResetLimit, LIMIT)
    assert json.loads(run_cli("limits", "reset", "cache_size", "--json").stdout)["name"] == "cache_size"

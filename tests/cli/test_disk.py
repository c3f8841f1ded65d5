"""`idlehive disk`."""

import json

from core.api.disk import DiskUse, FreeSpace, GetDiskUse
from tests.cli.conftest import RunCli
from tests.fakes.scripted_engine import ScriptedEngine

USE = DiskUse(3_400_000_000, 120_000_000, 0, 2_000_000, 800_000, 0, 3_500_000_000, 41_000_000_000, 1_100_000_000)
FREED = DiskUse(0, 0, 0, 2_000_000, 800_000, 0, 0, 44_500_000_000)


def test_what_is_held_is_listed_by_kind_with_what_is_left(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(GetDiskUse, USE)
    lines = run_cli("disk").stdout.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    assert lines[0].split() == ["Data", "of", "projects", "3.4", "GB"]
    assert [line.split("  ")[0] for line in lines[1:5]] == [
        "Copies of models",
        "Libraries for training",
        "History and settings",
        "Logs",
    ]
    assert lines[5:] == [
        "41.0 GB are left on this disk.",
        "3.5 GB can be deleted and fetched again when they are needed.",
    ]


def test_space_is_freed_when_asked(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(FreeSpace, FREED)
    said = run_cli("disk", "--free", "--json")
    assert json.loads(said.stdout)["to_free"] == 0
    assert engine.received(FreeSpace) == [FreeSpace()]

"""`idlehive status`, whose keys are a contract."""

import json
import time
from contextlib import closing
from typing import Any

import msgspec
import pytest

from app.cli.console import output
from core.api.message import Message
from core.api.preferences.schedule import CELLS
from core.api.reasons import Kind, Reason
from core.api.session import Counters
from core.api.session_settings import Limits, SessionSettings
from core.api.snapshot import Place, Silence, Snapshot, Surroundings, Traffic
from core.client.profile import Profile
from core.engine.decision.intent import Intent
from core.engine.stored_intent import StoredIntent
from core.store.store import Store
from tests.cli.conftest import ROOT, RunCli, StartCli
from tests.cli.given import ACTIVE, the_line
from tests.fakes.scripted_engine import ScriptedEngine

# The contract with scripts: keys may be added, never renamed or removed.
CONTRACT: dict[str, set[str]] = {
    "progress": {"epoch", "samples", "loss", "peers", "samples_per_second"},
    "traffic": {"uploaded", "downloaded", "upload_rate", "download_rate"},
    "session": {"pid", "started_at"},
}


def test_status_json_keeps_its_contract(engine: ScriptedEngine, run_cli: RunCli) -> None:
    reason = Reason(Kind.SNOOZED, hold=True, until=1_760_003_600.0)
    engine.show(Snapshot(**{**_fields(ACTIVE), "reasons": (reason,)}))
    told: dict[str, Any] = json.loads(run_cli("status", "--json").stdout)
    assert {"state", "reasons", "project", "limits"} <= told.keys()
    assert (told["state"], told["project"]) == ("contributing", "bees")
    assert told["reasons"][0].items() >= {
        "kind": "snoozed", "hold": True, "until": 1_760_003_600.0, "text": "You paused contributing for a while."
    }.items()  # fmt: skip
    for part, keys in CONTRACT.items():
        assert keys <= told[part].keys()
    assert told["limits"]["cache_size"] > 0
    assert told["engine_pid"] == 4242


def test_status_json_without_an_engine_has_the_same_keys_and_starts_none(profile: Any, run_cli: RunCli) -> None:
    told = json.loads(run_cli("status", "--json").stdout)
    assert (told["state"], told["engine_pid"], told["session"], told["reasons"]) == ("idle", 0, None, [])
    assert told.keys() - {"limits"} == _fields(ACTIVE).keys() - {"settings"}
    assert (told["limits"], profile.path.exists()) == ({}, False)


def test_status_tells_a_person_what_goes_on(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(ACTIVE)
    said = run_cli("status").stdout
    assert said.startswith("Contributing to Bees\n")
    assert "  This session: 1 234 samples at 8.2/s\n  Traffic: 34.0 MB sent (9.6 Mbit/s), " in said
    assert max(map(len, said.splitlines())) <= 80


def test_a_session_without_news_is_told_to_people_and_scripts(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(Snapshot(**{**_fields(ACTIVE), "silence": Silence(time.time() - 12)}))
    assert run_cli("status").stdout.startswith("No news from the session since ")
    told = json.loads(run_cli("status", "--json").stdout)["silence"]
    assert told["kind"] == "no_report"
    assert 12 <= told["seconds"] == pytest.approx(time.time() - told["since"], abs=30)


def test_status_tells_how_others_reach_this_computer(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(msgspec.structs.replace(ACTIVE, reachability="outgoing"))
    said = run_cli("status").stdout
    assert (
        "  Only outgoing connections.\n  `idlehive limits set port_mapping yes` lets the router open a port.\n" in said
    )
    engine.show(msgspec.structs.replace(ACTIVE, reachability="router"))
    assert "  Reachable: port mapped by the router.\n" in run_cli("status").stdout
    assert json.loads(run_cli("status", "--json").stdout)["reachability"] == "router"


def test_status_tells_the_place_among_all(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.show(msgspec.structs.replace(ACTIVE, place=Place(3, 1400, 4800, 0.12, 0.0)))
    assert "You: place 3 of 1 400, 12 % of all samples" in run_cli("status").stdout
    assert json.loads(run_cli("status", "--json").stdout)["place"]["place"] == 3


def test_status_says_if_nobody_tells_whether_the_volunteer_is_there(engine: ScriptedEngine, run_cli: RunCli) -> None:
    on_gpu = msgspec.structs.replace(ACTIVE, settings=SessionSettings(gpu="GPU-0"))
    engine.show(on_gpu)
    assert "Idlehive cannot see whether you use the computer" in run_cli("status").stdout
    engine.show(msgspec.structs.replace(on_gpu, surroundings=Surroundings(last_input=1_760_000_000.0)))
    assert "cannot see" not in run_cli("status").stdout


def test_status_without_an_engine_says_so(run_cli: RunCli) -> None:
    assert the_line(run_cli("status").stdout).startswith("Idle: the engine is not running.")


def test_status_needs_neither_qt_nor_torch_nor_rich(engine: ScriptedEngine, start_cli: StartCli) -> None:
    import subprocess
    import sys

    code = "import sys; from app.cli import main; main(['status']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not {"PySide6", "torch", "hivemind", "numpy", "rich", "keyring"} & set(done.stderr.split())


def test_watching_as_json_gives_one_object_a_line(engine: ScriptedEngine, start_cli: StartCli) -> None:
    watching = start_cli("status", "--watch", "--json")
    assert watching.stdout
    assert json.loads(watching.stdout.readline())["state"] == "idle"
    engine.show(ACTIVE)
    assert json.loads(watching.stdout.readline())["state"] == "contributing"
    engine.stop()
    assert json.loads(watching.stdout.readline())["engine_pid"] == 0
    engine.start()
    assert json.loads(watching.stdout.readline())["state"] == "contributing"


def _fields(snapshot: Snapshot) -> dict[str, Any]:
    return {name: getattr(snapshot, name) for name in Snapshot.__struct_fields__}


def test_status_names_limits_as_the_page_does_and_says_how_to_change_one(
    engine: ScriptedEngine, run_cli: RunCli
) -> None:
    over = Message("memory_over_limit", {"held": 3_000_000_000, "allowed": 2_000_000_000})
    chosen = SessionSettings(limits=Limits(memory_limit=2_000_000_000))
    gave_up = Reason(Kind.GAVE_UP, False, {"failure": over})
    engine.show(msgspec.structs.replace(ACTIVE, state="failed", error=over, reasons=(gave_up,), settings=chosen))
    said = run_cli("status").stdout
    assert f"  Project: {ACTIVE.project_name}\n" in said
    assert "more than your limit of 2.0 GB" in said
    assert "  `idlehive limits set memory_limit …` changes “Memory”.\n" in said
    assert "  Limits: Memory 2 GB\n" in said


def test_limits_of_a_graphics_card_are_named_only_where_one_computes(engine: ScriptedEngine, run_cli: RunCli) -> None:
    chosen = SessionSettings(limits=Limits(processor_share=50, gpu_temperature=70))
    engine.show(msgspec.structs.replace(ACTIVE, settings=chosen))
    assert "  Limits: Processor use 50 %\n" in run_cli("status").stdout
    engine.show(msgspec.structs.replace(ACTIVE, settings=msgspec.structs.replace(chosen, gpu="GPU-0")))
    assert "  Limits: Processor use 50 %, Temperature 70 °C\n" in run_cli("status").stdout


def test_status_without_an_engine_knows_the_day_and_the_level_of_the_hour(profile: Profile, run_cli: RunCli) -> None:
    profile.prepare()
    store, now = Store(profile.database), time.time()
    store.preferences.set("week", "g" * CELLS)
    store.journal.begin("practice", "practice-1", now)
    store.journal.add(Counters(samples=64, seconds=10.0), Traffic(1000, 2000), now)
    store.close()
    told = json.loads(run_cli("status", "--json").stdout)
    assert (told["engine_pid"], told["today"]["samples"], told["schedule"]["level"]) == (0, 64, "gentle")
    assert "  Today: 64 samples, 0 epochs, 10 s\n" in run_cli("status").stdout
    assert not profile.socket.exists()


def test_without_an_engine_nobody_is_said_to_contribute(profile: Profile, run_cli: RunCli) -> None:
    profile.prepare()
    with closing(Store(profile.database)) as store:
        store.preferences.set("week", "." * CELLS)
        StoredIntent(store.journal).set(Intent(wanted=True, override=True))
    assert "contribut" not in run_cli("status").stdout.replace("idlehive contribute", "")
    told = json.loads(run_cli("status", "--json").stdout)
    assert (told["wanted"], told["schedule"]["overridden"]) == (True, True)
    with closing(Store(profile.database)) as store:
        store.preferences.set("resume_at_start", False)
    told = json.loads(run_cli("status", "--json").stdout)
    assert (told["wanted"], told["schedule"]["overridden"]) == (False, False), "the next engine will not take it up"


def test_a_record_that_cannot_be_read_leaves_the_status_without_figures(profile: Profile, run_cli: RunCli) -> None:
    profile.prepare()
    profile.database.write_text("no record")
    assert json.loads(run_cli("status", "--json").stdout)["today"]["samples"] == 0


def test_every_key_for_scripts_is_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    missing = [key for key in output.status_json(Snapshot(state="idle")) if f"`{key}`" not in text]
    assert missing == []

"""The volunteer's place among all, asked of a project's backbone while contributing."""

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace

from core.api.identity import GetIdentity, IdentityInfo
from core.api.intent import Contribute
from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.api.project.projects import ProjectDetails, ShowProject
from core.api.protocol import GetSnapshot
from core.api.snapshot import Place, Snapshot
from core.engine.projects.ranking import SOON, Ranking
from tests.engine.projects.organiser import Organiser
from tests.fakes.http_server import FakeServer, answer, serving
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for


def place(engine: RunningEngine) -> Place | None:
    return engine.ask(GetSnapshot(), Snapshot).place


def begin(engine: RunningEngine, organiser: Organiser, told: bytes) -> None:
    """Contribute to a project whose backbone says `told`."""
    engine.patience["core.engine.projects.ranking.SOON"] = 0.5
    id_ = engine.start().ask(GetIdentity(), IdentityInfo).id
    organiser.pages[f"leaderboard.json?volunteer={id_}"] = told
    engine.tell(Contribute(organiser.publish(leaderboard="leaderboard.json")))


def test_the_place_is_shown_while_contributing(engine: RunningEngine, organiser: Organiser) -> None:
    told = {"volunteers": 14, "you": {"place": 3, "samples": 4800, "share": 0.12}, "entries": []}
    begin(engine, organiser, json.dumps(told).encode())
    known = wait_for(lambda: place(engine), seconds=30.0)
    assert known is not None
    assert (known.place, known.volunteers, known.samples, known.share) == (3, 14, 4800, 0.12)
    assert engine.ask(ShowProject("poems"), ProjectDetails).place == known
    engine.ask(SetPreference("publish_contributions", 0), PreferenceInfo)
    assert place(engine) is None, "whoever publishes nothing has no place"


def test_an_answer_that_comes_after_opting_out_is_for_nobody() -> None:
    told = answer(200, b'{"volunteers": 2, "you": {"place": 1, "samples": 9, "share": 0.5}}')
    released = threading.Event()

    def late(handler: BaseHTTPRequestHandler) -> None:
        released.wait(10.0)
        told(handler)

    async def ask(server: FakeServer, *, opt_out: bool) -> Place | None:
        volunteer = SimpleNamespace(info=lambda: IdentityInfo("ab" * 32))
        places = Ranking(volunteer, lambda: None, time.time)  # type: ignore[arg-type]  # all that is asked
        manifest = SimpleNamespace(leaderboard=server.url("leaderboard.json"), initial_peers=())
        project = SimpleNamespace(id="poems", source=server.url("manifest.json"), manifest=manifest)
        for now in (0.0, SOON):
            places.update(project, now)  # type: ignore[arg-type]  # all that is looked at
        assert places.asking is not None
        if opt_out:
            places.forget()
        released.set()
        await places.asking
        return places.get("poems")

    with serving(late) as server:
        assert asyncio.run(ask(server, opt_out=False)) is not None
        released.clear()
        assert asyncio.run(ask(server, opt_out=True)) is None


def test_a_backbone_that_says_nonsense_leaves_the_place_unknown(engine: RunningEngine, organiser: Organiser) -> None:
    begin(engine, organiser, b'{"volunteers": 2, "you": {"place": 0, "samples": 1, "share": 0.5}}')
    wait_for(lambda: "could not be read" in engine.log(), seconds=30.0)
    assert place(engine) is None

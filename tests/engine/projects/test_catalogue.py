"""Projects, manifests from anywhere, the curve, and secrets."""

import stat

import msgspec
import pytest

from core.api.errors import UsageError
from core.api.intent import Contribute
from core.api.message import Message
from core.api.project.demonstration import Demonstration, GetDemonstration, Span
from core.api.project.projects import (
    AddProject,
    CurvePoint,
    GetCurve,
    JoinProject,
    LeaveProject,
    ListProjects,
    ProjectDetails,
    ProjectInfo,
    RemoveProject,
    ShowProject,
)
from tests.engine.projects.organiser import Organiser
from tests.fakes.running_engine import RunningEngine, events
from tests.waiting import wait_for

SECRET = "sesame-4711"


def test_the_practice_project_is_there_from_the_start(engine: RunningEngine) -> None:
    (info,) = engine.start().ask(ListProjects(), list[ProjectInfo])
    assert (info.id, info.source, info.practice, info.joined, info.license) == (
        "practice",
        "builtin",
        True,
        False,
        "CC0-1.0",
    )
    details = engine.ask(ShowProject("practice"), ProjectDetails)
    assert (details.architecture, details.task, details.missing) == (
        "AlbertForMaskedLM",
        "masked_language_modelling",
        (),
    )
    assert engine.ask(GetCurve("practice"), list[CurvePoint]) == []


def test_a_project_from_an_address_is_listed_and_can_be_joined_and_left(
    engine: RunningEngine, organiser: Organiser
) -> None:
    url = organiser.publish()
    added = engine.start().ask(AddProject(url), ProjectInfo)
    assert (added.id, added.name, added.source, added.joined) == ("poems", "Poems", url, False)
    assert engine.ask(JoinProject("poems"), ProjectInfo).joined
    assert engine.snapshot().project == "poems"
    engine.quit()
    rows = engine.start().ask(ListProjects(), list[ProjectInfo])
    assert [(row.id, row.joined) for row in rows] == [("poems", True), ("practice", False)]
    assert not engine.ask(LeaveProject("poems"), ProjectInfo).joined
    with pytest.raises(UsageError, match=r"^not_a_member project=poems$"):
        engine.ask(LeaveProject("poems"), ProjectInfo)


def test_contributing_to_an_address_joins_its_project(engine: RunningEngine, organiser: Organiser) -> None:
    url = organiser.publish()
    engine.start().tell(Contribute(url))
    assert engine.until("contributing").project == "poems"
    start = engine.heard()[0]
    assert start["origin"] == url
    assert start["manifest"]["data"]["shards"][0]["url"] == organiser.url("files/a")
    assert engine.ask(ListProjects(), list[ProjectInfo])[0].active


def test_another_project_takes_over_the_session(engine: RunningEngine, organiser: Organiser) -> None:
    first = engine.start().contribute()
    engine.tell(Contribute(organiser.publish()))
    after = wait_for(lambda: next((s for s in [engine.until("contributing")] if s.project == "poems"), None))
    assert after is not None
    assert after.session != first.session
    assert [start["manifest"]["id"] for start in engine.heard() if start["type"] == "Start"] == ["practice", "poems"]


def test_the_manifest_is_renewed_for_each_session_and_the_stored_one_does_without(
    engine: RunningEngine, organiser: Organiser
) -> None:
    engine.start().ask(AddProject(organiser.publish()), ProjectInfo)
    organiser.publish(name="Better poems")
    engine.tell(Contribute("poems"))
    assert engine.until("contributing").project_name == "Better poems"
    engine.quit()
    organiser.pages.clear()
    engine.start()
    assert engine.until("contributing").project_name == "Better poems"


def test_a_manifest_that_becomes_another_projects_is_not_followed(engine: RunningEngine, organiser: Organiser) -> None:
    engine.start().ask(AddProject(organiser.publish()), ProjectInfo)
    organiser.publish(id="other")
    engine.tell(Contribute("poems"))
    assert engine.until("contributing").project == "poems"


def test_a_run_that_has_ended_is_told(engine: RunningEngine, organiser: Organiser) -> None:
    engine.start().tell(Contribute(organiser.publish(closed=True)))
    assert engine.until("failed").error == Message("project_ended", {"name": "Poems"})


def test_an_unknown_project_is_refused_with_those_there_are(engine: RunningEngine) -> None:
    with pytest.raises(UsageError, match=r"^project_unknown project=poem known=practice$"):
        engine.start().ask(ShowProject("poem"), ProjectDetails)


def test_what_the_machine_lacks_is_told_before_joining(engine: RunningEngine, organiser: Organiser) -> None:
    needs = {"memory": 1 << 50, "gpu_memory": 1 << 50, "disk": 1 << 52}
    engine.start().ask(AddProject(organiser.publish(requirements=needs)), ProjectInfo)
    details = engine.ask(ShowProject("poems"), ProjectDetails)
    assert [(lack.kind, lack.params["needed"]) for lack in details.missing] == [
        ("needs_memory", 1 << 50),
        ("needs_gpu", 1 << 50),
        ("needs_disk", 1 << 52),
    ]


@pytest.mark.parametrize(
    "curve", [b"no JSON", b'{"points": [{"epoch": -1}]}', b'{"points": 5}', b"[" * 100_000, b" " * (5 << 20)]
)
def test_a_curve_that_makes_no_sense_is_left_out(engine: RunningEngine, organiser: Organiser, curve: bytes) -> None:
    organiser.pages["curve.json"] = curve
    engine.start().ask(AddProject(organiser.publish()), ProjectInfo)
    assert engine.ask(GetCurve("poems"), list[CurvePoint]) == []


def test_what_the_model_can_do_comes_from_the_backbone_as_plain_text(
    engine: RunningEngine, organiser: Organiser
) -> None:
    spans = (
        Span("To be,\n or\x1b[31m \u202e"),
        Span("not" * 400, is_made=True, right="to\tbe" * 100),
        Span("never shown"),
    )
    sent = Demonstration("continued_text", spans, epoch=7)
    organiser.pages["demonstration.json"] = msgspec.json.encode(sent)
    engine.start().ask(AddProject(organiser.publish(demonstration="demonstration.json")), ProjectInfo)
    shown = engine.ask(GetDemonstration("poems"), Demonstration)
    assert (shown.kind, shown.epoch, len(shown.spans)) == ("continued_text", 7, 2)
    assert shown.spans[0] == Span("To be,  or\ufffd[31m \ufffd")
    assert sum(len(span.text) + len(span.right or "") for span in shown.spans) <= 1000 + 500


@pytest.mark.parametrize(
    "sent",
    [
        b"no JSON",
        b"null",
        b'{"kind": 5}',
        b'{"kind": "continued_text", "spans": [{"text": "' + b"a" * 2001 + b'"}]}',
        b'{"kind": "x", "spans": [' + b'{"text": "a"},' * 100 + b'{"text": "a"}]}',
        msgspec.json.encode(Demonstration("nearest_pictures", (), b"<svg xmlns='http://www.w3.org/2000/svg'/>")),
        msgspec.json.encode(Demonstration("nearest_pictures", (), b"\xff\xd8\xff")),
        msgspec.json.encode(Demonstration("nearest_pictures", (), b"\x89PNG\r\n\x1a\n" + b"a" * (256 << 10))),
        b" " * (513 << 10),
        b"[" * 100_000,
    ],
)
def test_what_cannot_be_shown_of_the_model_is_left_out(
    engine: RunningEngine, organiser: Organiser, sent: bytes
) -> None:
    organiser.pages["demonstration.json"] = sent
    engine.start().ask(AddProject(organiser.publish(demonstration="demonstration.json")), ProjectInfo)
    assert engine.ask(GetDemonstration("poems"), type(None)) is None


def test_without_a_keyring_the_invite_is_kept_in_a_private_file_with_a_warning(
    engine: RunningEngine, organiser: Organiser
) -> None:
    client = engine.start().client()
    next(client.messages(1.0))
    info = engine.ask(JoinProject(organiser.publish(), invite=SECRET), ProjectInfo)
    assert info.warning is not None
    assert events(client, "warning").message == info.warning
    kept = engine.home.path / "secrets.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    engine.tell(Contribute("poems"))
    engine.until("contributing")
    assert engine.heard()[0]["access_token"] == SECRET
    engine.ask(LeaveProject("poems"), ProjectInfo)
    assert SECRET not in kept.read_text()


def test_the_invite_is_nowhere_but_where_it_is_kept(engine: RunningEngine, organiser: Organiser) -> None:
    engine.start().ask(JoinProject(organiser.publish(), invite=SECRET), ProjectInfo)
    engine.tell(Contribute("poems"))
    engine.until("contributing")
    engine.quit()
    kept = engine.home.path / "secrets.json"
    files = [path for path in engine.home.path.rglob("*") if path.is_file() and path != kept]
    assert len(files) > 2
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_a_project_that_is_not_joined_can_be_taken_off_the_list(engine: RunningEngine, organiser: Organiser) -> None:
    engine.start().ask(AddProject(organiser.publish()), ProjectInfo)
    engine.ask(JoinProject("poems"), ProjectInfo)
    for which, kind in (("poems", "project_joined"), ("practice", "practice_stays")):
        with pytest.raises(UsageError, match=kind):
            engine.tell(RemoveProject(which))
    engine.ask(LeaveProject("poems"), ProjectInfo)
    engine.tell(RemoveProject("poems"))
    assert [row.id for row in engine.ask(ListProjects(), list[ProjectInfo])] == ["practice"]

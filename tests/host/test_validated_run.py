"""A run of real peers, one of whom brings what its samples do not give: it is found out and left out."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.swarm.averaging.peers.small_peer import Process
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

WITHIN = 40
"""Updates after which the liar is banned at the latest. In the mean it is validated after three, and once more then;
the validator lets rounds pass while it computes."""
BEYOND = 5
"""Updates that the honest ones make without it."""
FAR = 0.2


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _start(folder: Path, opened: ExitStack, name: str, *options: str) -> Process:
    peer = Process(folder, name, "tests.host.peers.validated_peer", [str(folder), name, *(options or ("",))])
    opened.callback(peer.leave)
    return peer


def test_volunteers_find_it_out_where_no_backbone_does(short_folder: Path, opened: ExitStack) -> None:
    start = partial(_start, short_folder, opened)
    share = "0.5"
    backbone, liar = start("backbone", "", share), start("liar", "sign", share)
    honest = [start("ann", "", share), start("ben", "", share)]
    wait_for(lambda: all(each.those_with("dropped") for each in honest), 300.0, "both have found out", every=0.2)
    [own] = liar.those_with("peer")
    found = [event for each in honest for event in each.those_with("dropped") if event["offence"] == "gradient_wrong"]
    print(found, [max(each.updates) for each in honest])
    assert found
    assert {event["dropped"] for event in found} == {own["peer"]}
    assert not backbone.those_with("banned")


@pytest.mark.parametrize("lie", ["labels", "sign", "delay", "little", "nothing"])
def test_who_brings_other_gradients_than_its_samples_give_is_banned_and_nobody_else(
    short_folder: Path, opened: ExitStack, lie: str
) -> None:
    start = partial(_start, short_folder, opened)
    backbone, honest, liar = start("backbone"), [start("ann"), start("ben")], start("liar", lie)
    wait_for(lambda: backbone.those_with("banned"), 300.0, "a peer is banned", every=0.2)
    [ban] = backbone.those_with("banned")
    [own] = liar.those_with("peer")
    assert ban["banned"] == [own["peer"]]
    assert ban["epoch"] <= WITHIN

    told = {"dropped": own["peer"], "offence": "banned_by_organiser"}
    wait_for(lambda: all(told in each.events for each in honest), 60.0, "they are told")
    wait_for(lambda: liar.those_with("excluded"), 60.0, "so is the liar")
    last = max(max(each.updates) for each in honest) + BEYOND
    wait_for(lambda: all(max(each.updates) >= last for each in honest), 120.0, "they go on", every=0.2)
    late = [update for each in honest for update in each.updates.values() if update["epoch"] > last - 2]
    assert not any(own["peer"] in update["partners"] for update in late)
    wait_for(lambda: len({each["validated"] for each in backbone.those_with("validated")}) == 3, 120.0, "all validated")
    assert backbone.those_with("banned") == [ban], "nobody else"

    found = backbone.those_with("validated")
    print(lie, ban, [(each["epoch"], each["validated"][-4:], f"{each['deviation']:.3g}") for each in found])
    assert {each["validated"] for each in found if each["deviation"] > FAR} == {own["peer"]}
    credit = backbone.those_with("credit")[-1]["credit"]
    assert credit["ann"] > 0
    assert credit["ben"] > 0
    assert "liar" not in credit, "what it was credited with is taken back"

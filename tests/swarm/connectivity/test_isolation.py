"""A peer that sees no other one: alone in its run, or cut off from it."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from core.swarm.connectivity.isolation import IsolationGuard
from core.swarm.errors import Isolated
from tests.fakes.backbone import ScriptedBackbone


@dataclass
class Reports:
    """What a tracker reads from the DHT: `later` once it has been asked to read again."""

    sees_others: bool = False
    others_can_be_reached: bool = False
    later: dict[str, bool] = field(default_factory=dict)

    def refresh(self) -> None:
        for name, value in self.later.items():
            setattr(self, name, value)


def guard(reports: Reports, *, backbone: bool = True, client_mode: bool = False) -> IsolationGuard:
    scripted = ScriptedBackbone()
    scripted.is_there = backbone
    return IsolationGuard(cast("Any", reports), cast("Any", scripted), client_mode=client_mode)


def test_a_peer_is_alone_only_while_the_backbone_answers() -> None:
    assert guard(Reports()).check_if_alone()
    with pytest.raises(Isolated, match="no_peers"):
        guard(Reports(), backbone=False).check_if_alone()


def test_with_another_peer_nobody_is_alone_whether_or_not_the_backbone_answers() -> None:
    assert not guard(Reports(sees_others=True), backbone=False).check_if_alone()


def test_a_peer_that_was_cut_off_reads_the_reports_again_before_it_counts_as_alone() -> None:
    assert not guard(Reports(later={"sees_others": True})).check_if_alone()


def test_a_peer_that_only_calls_others_is_isolated_without_one_that_listens() -> None:
    with pytest.raises(Isolated, match="no_peer_with_open_port"):
        guard(Reports(sees_others=True), client_mode=True).check_if_alone()
    listening = Reports(sees_others=True, later={"others_can_be_reached": True})
    assert not guard(listening, client_mode=True).check_if_alone()


def test_connected_means_a_peer_or_the_backbone_and_for_one_that_only_calls_others_a_listening_peer() -> None:
    assert guard(Reports()).is_connected
    assert not guard(Reports(), backbone=False).is_connected
    assert guard(Reports(sees_others=True), backbone=False).is_connected
    assert not guard(Reports(sees_others=True), client_mode=True).is_connected
    assert guard(Reports(others_can_be_reached=True), backbone=False, client_mode=True).is_connected

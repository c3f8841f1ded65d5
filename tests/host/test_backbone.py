"""The watch over the run; what has no part in a decision is left out."""

import logging
from collections import Counter
from types import SimpleNamespace

import pytest
from hivemind.p2p import PeerID

from core.host.backbone import Backbone
from core.swarm.trust.distrust import Drop
from core.swarm.trust.validation import Evidence

PEER = "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"


def test_a_ban_is_effective_before_anybody_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    backbone = object.__new__(Backbone)
    part = SimpleNamespace(ban=lambda *_: done.append("banned"))
    vars(backbone).update(_bans=Counter(), auxiliary=part, record=part)
    monkeypatch.setattr(logging.getLogger("core.host.backbone"), "error", lambda *_: done.append("told"))
    backbone._ban(Evidence(PEER, b"", 0, 16.0, 0, 1, 1.0, (), b""))
    assert done == ["banned", "banned", "told"]


def test_who_gives_the_backbone_wrong_averages_again_is_left_out_by_all_as_long_as_by_the_backbone() -> None:
    bans: list[tuple[bytes, float]] = []
    backbone = object.__new__(Backbone)
    backbone.record = SimpleNamespace(ban=lambda *ban: bans.append(ban))  # type: ignore[assignment]
    backbone._pass_on(Drop(PEER, "average_wrong", 1000.0, 60.0))
    backbone._pass_on(Drop(PEER, "fell_silent", 1000.0, 120.0))
    assert bans == []
    backbone._pass_on(Drop(PEER, "average_wrong", 2000.0, 120.0))
    assert bans == [(PeerID.from_base58(PEER).to_bytes(), 2120.0)]


def test_who_brought_other_gradients_loses_the_credit_of_its_own_sessions_whatever_place_it_named() -> None:
    disowned: list[bytes] = []
    backbone = object.__new__(Backbone)
    part = SimpleNamespace(ban=lambda *_: None, disown=disowned.append)
    vars(backbone).update(_bans=Counter(), auxiliary=part, record=part, _audit=part)
    backbone._ban_guilty(Evidence(PEER, b"the place of another", 0, 16.0, 0, 1, 1.0, (), b""))
    assert disowned == [PeerID.from_base58(PEER).to_bytes()]

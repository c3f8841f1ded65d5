"""The watch over the run; what has no part in a decision is left out."""

import logging
from collections import Counter
from types import SimpleNamespace

import pytest

from core.host.backbone import Backbone
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

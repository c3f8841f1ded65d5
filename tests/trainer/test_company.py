"""Whether the backbone is in reach, with a clock of the test's own."""

import pytest

from core.trainer.company import Company


class Backbone:
    def __init__(self) -> None:
        self.now = 100.0
        self.answers = True
        self.asked = 0

    def reachable(self) -> bool:
        self.asked += 1
        return self.answers


@pytest.fixture
def backbone() -> Backbone:
    return Backbone()


@pytest.fixture
def company(backbone: Backbone) -> Company:
    return Company(backbone.reachable, lambda: backbone.now)


def test_nobody_is_there_before_the_backbone_was_seen(backbone: Backbone, company: Company) -> None:
    backbone.answers = False
    assert not company.is_there()
    backbone.answers = True
    assert company.is_there()


def test_who_was_seen_just_now_is_not_asked_for_again(backbone: Backbone, company: Company) -> None:
    assert all(company.is_there() for _ in range(100))
    backbone.now += 5.0
    assert company.is_there()
    assert backbone.asked == 1
    backbone.now += 0.1
    assert company.is_there()
    assert backbone.asked == 2


def test_a_backbone_that_falls_silent_counts_for_half_a_minute(backbone: Backbone, company: Company) -> None:
    assert company.is_there()
    backbone.answers = False
    backbone.now += 30.0
    assert company.is_there()
    backbone.now += 0.1
    assert not company.is_there()

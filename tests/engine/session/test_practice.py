"""How the practice project's two trainers share what the volunteer allows."""

import pytest

from core.api.session_settings import Limits, SessionSettings
from core.engine.session.practice import divide


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 16])
@pytest.mark.parametrize("threads", [0, 1, 2, 5])
@pytest.mark.parametrize("share", [5, 50, 100])
def test_together_they_use_no_more_than_is_allowed(cores: int, threads: int, share: int) -> None:
    limits = Limits(threads=threads, processor_share=share)
    own, companion = (part.limits for part in divide(SessionSettings(limits), cores))
    used = sum(one.threads * one.processor_share for one in (own, companion))
    allowed = limits.threads_on(cores) * share
    assert allowed - 1 <= used <= allowed


def test_a_trainer_on_a_gpu_leaves_the_processor_to_the_companion() -> None:
    settings = SessionSettings(Limits(threads=4, gpu_share=40), gpu="GPU-1")
    own, companion = divide(settings, 8)
    assert own == settings
    assert companion == SessionSettings(settings.limits)

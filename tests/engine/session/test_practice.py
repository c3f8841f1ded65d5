"""How the practice project's two trainers share what the volunteer allows."""

import pytest

from core.api.preferences.preferences import Limits
from core.engine.session.practice import divide


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 16])
@pytest.mark.parametrize("threads", [0, 1, 2, 5])
@pytest.mark.parametrize("share", [5, 50, 100])
def test_together_they_use_no_more_than_is_allowed(cores: int, threads: int, share: int) -> None:
    limits = Limits(threads=threads, processor_share=share)
    own, companion = divide(limits, cores)
    used = sum(one.threads * one.processor_share for one in (own, companion))
    allowed = limits.threads_on(cores) * share
    assert allowed - 1 <= used <= allowed


def test_a_trainer_on_a_gpu_leaves_the_processor_to_the_companion() -> None:
    limits = Limits(threads=4, gpu="GPU-1", gpu_share=40)
    own, companion = divide(limits, 8)
    assert own == limits
    assert companion == Limits(threads=4, gpu_share=40)

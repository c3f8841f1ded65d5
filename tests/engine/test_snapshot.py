"""What front ends see of the graphics card."""

from dataclasses import replace

from core.api.snapshot import GpuUse
from core.conditions.gpu import GpuState, GpuStates
from core.conditions.nvml import Gpu
from core.engine.decision.rules import gpu_rules

CARD = Gpu(1, "GPU-1", "RTX 3060", 12 << 30, 4 << 30, utilization=63, temperature=66, power=111.6)
OTHER = replace(CARD, number=0, uuid="GPU-0", temperature=40)
STATES = GpuStates((GpuState(OTHER), GpuState(CARD)))


def test_the_card_that_computes_is_shown_with_what_it_tells() -> None:
    assert gpu_rules.gpu_use(STATES, "GPU-1") == GpuUse("RTX 3060", 63, 66, 112, 4 << 30, 12 << 30)


def test_what_a_card_does_not_tell_stays_unknown() -> None:
    silent = GpuStates((GpuState(replace(CARD, utilization=None, temperature=None, power=None)),))
    assert gpu_rules.gpu_use(silent, "GPU-1") == GpuUse("RTX 3060", None, None, None, 4 << 30, 12 << 30)


def test_on_the_processor_no_card_is_shown() -> None:
    assert gpu_rules.gpu_use(STATES, "") is None

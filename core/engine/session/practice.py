"""What the practice project's two trainers, the volunteer's own and the companion, may use of the computer together."""

from msgspec.structs import replace

from core.api.preferences.preferences import Limits


def divide(limits: Limits, cores: int) -> tuple[Limits, Limits]:
    """The trainer's part and the companion's: together they keep the processor's ceilings.

    Threads are divided; a single one is shared by giving each half of its time. The companion never uses a GPU, and a
    trainer on one leaves the processor's part to the companion.
    """
    companion = replace(limits, gpu="")
    if limits.gpu:
        return limits, companion
    threads = limits.threads_on(cores)
    if threads > 1:
        own = threads - threads // 2
        return replace(limits, threads=own), replace(companion, threads=threads - own)
    share = max(1, limits.processor_share // 2)
    one = replace(limits, threads=1, processor_share=share)
    return one, replace(companion, threads=1, processor_share=share)

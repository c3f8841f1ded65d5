"""What the practice project's two trainers, the volunteer's own and the companion, may use of the computer together."""

from msgspec.structs import replace

from core.api.session_settings import SessionSettings


def divide(settings: SessionSettings, cores: int) -> tuple[SessionSettings, SessionSettings]:
    """The trainer's part and the companion's: together they keep the processor's ceilings.

    Threads are divided; a single one is shared by giving each half of its time. The companion never uses a GPU, and a
    trainer on one leaves the processor's part to the companion.
    """
    companion, limits = replace(settings, gpu=""), settings.limits
    if settings.gpu:
        return settings, companion
    threads = limits.threads_on(cores)
    if threads > 1:
        mine, other = replace(limits, threads=threads - threads // 2), replace(limits, threads=threads // 2)
    else:
        mine = other = replace(limits, threads=1, processor_share=max(1, limits.processor_share // 2))
    return replace(settings, limits=mine), replace(companion, limits=other)

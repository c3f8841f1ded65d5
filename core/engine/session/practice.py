"""Divides limits between the practice project's two trainers: the volunteer's own and the companion."""

from msgspec.structs import replace

from core.api.session_settings import SessionSettings


def divide(settings: SessionSettings, cores: int) -> tuple[SessionSettings, SessionSettings]:
    """Settings of the trainer and of the companion, which together stay below the processor's ceilings.

    Threads are divided; of a single one, each gets half of the time. The companion never uses a GPU.
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

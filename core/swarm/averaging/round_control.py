"""A round that this peer has asked for: how far it is, whether others count on it already, and how it is given up."""

from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress

from hivemind.averaging.control import AveragingStage, StepControl

from core.api.snapshot import Phase

_REFRESH_AFTER, _REFRESH_EVERY = 1.0, 2.0
"""Seconds until the others' progress is read while a group is searched for, and between two later readings."""


def is_searching(control: StepControl | None) -> bool:
    """Whether the round has no group yet, so that nobody counts on this peer."""
    # It is idle until the averager's process has begun with it.
    stages = (AveragingStage.IDLE, AveragingStage.LOOKING_FOR_GROUP)
    return control is not None and not control.done() and control.stage in stages


def has_group(control: StepControl | None) -> bool:
    """Whether other peers count on this one in the round."""
    return control is not None and not control.done() and not is_searching(control)


def phase_of(control: StepControl | None) -> Phase:
    """What an update waits for whose round this is."""
    if control is None or control.done():
        return "updating"
    return "averaging" if control.stage == AveragingStage.RUNNING_ALLREDUCE else "finding_group"


def give_up(control: StepControl | None, begins: Callable[[], None] = lambda: None) -> None:
    """Cancel the search for a group; once a group counts on this peer, stay in it with weight zero.

    `begins` is called if the round begins by that, before it does.
    """
    if control is None or control.done():
        return
    if is_searching(control):
        control.cancel()
    elif not control.triggered:
        begins()
        control.weight = 0.0
        control.allow_allreduce()


def wait_for_group(control: StepControl, is_late: Callable[[], bool], while_searching: Callable[[], None]) -> None:
    """Wait until the search ends; cancel it as soon as it `is_late`, because others have made this update."""
    patience = _REFRESH_AFTER
    while is_searching(control):
        with suppress(TimeoutError, CancelledError):
            control.exception(patience)
        look_after(control, is_late, while_searching)
        patience = _REFRESH_EVERY


def look_after(control: StepControl, is_late: Callable[[], bool], while_searching: Callable[[], None]) -> None:
    """Cancel a search for a group that `is_late`; to be called now and then until the search ends."""
    if is_searching(control):
        if is_late():
            control.cancel()
        else:
            while_searching()

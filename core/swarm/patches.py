"""The one place where hivemind is patched, because it offers no parameter. tests/swarm/test_patches.py fails when the
library changes under a patch."""

import resource
from concurrent.futures import InvalidStateError
from contextlib import suppress
from functools import partial
from pathlib import Path

import torch
from hivemind.averaging import averager
from hivemind.averaging.control import StepControl
from hivemind.p2p import P2P
from hivemind.p2p.p2p_daemon_bindings import control
from hivemind.utils import MPFuture

from core.swarm.averaging.all_reduce import AtomicAllReduce
from core.swarm.averaging.load_balancing import load_balance
from core.swarm.traffic.meter import Line
from core.swarm.traffic.rate_negotiation import RateNegotiation, negotiated_open, negotiated_serve
from core.swarm.traffic.throttled_streams import ThrottledStreams

_DESCRIPTORS = 10_240
"""What macOS admits at most; each shared tensor takes one, and shells often allow no more than 1024."""


def use_session_folder(folder: Path) -> None:
    """Leave nothing outside of `folder`, however this process and its children end.

    The daemon's sockets lie in it (hivemind: always in /tmp, where a killed process leaves them for ever). Tensors are
    shared among processes by file descriptor (hivemind: by name, which stays in /dev/shm). To be called before the
    first daemon is started and the first tensor is shared.
    """
    P2P._UNIX_SOCKET_PREFIX = f"/unix{folder}/"
    torch.multiprocessing.set_sharing_strategy("file_descriptor")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def throttle_traffic(line: Line) -> None:
    """Pace and count what goes between the daemon and this process and those forked from it later.

    hivemind has neither a ceiling nor a counter. Streams pass through `send_raw_data` and `receive_raw_data`, single
    calls to peers through the control connection.
    """
    rate_negotiation = RateNegotiation(line)
    streams = ThrottledStreams(line, rate_negotiation)
    P2P.call_binary_stream_handler = negotiated_open(P2P.call_binary_stream_handler, rate_negotiation)
    P2P.add_binary_stream_handler = negotiated_serve(P2P.add_binary_stream_handler, rate_negotiation)
    P2P.send_raw_data = staticmethod(streams.send)
    P2P.receive_raw_data = staticmethod(streams.receive)
    control.write_pbmsg = streams.write_call
    control.read_pbmsg_safe = streams.read_call


def balance_load() -> None:
    """Let averagers divide the work by our own arithmetic (hivemind: a method that SciPy has deprecated)."""
    averager.load_balance_peers = load_balance


def average_atomically(silence: float) -> None:
    """Let all peers of a round end with the same bits, or none (hivemind: each with its own, and with lost parts).

    To be called before the averager is made: its process has it from then on. `silence` is `AtomicAllReduce`'s.
    """
    averager.AllReduceRunner = partial(AtomicAllReduce, silence=silence)


def cancel_rounds_for_good() -> None:
    """Make the averager stop where a round is cancelled, and let two threads cancel it at once.

    hivemind wakes the averager's process first and cancels then. Woken, it often finds nothing cancelled, and is not
    woken again: it searches on until the deadline, and joins a group that this peer does not wait for.
    """
    StepControl.cancel = _cancel


def _cancel(control: StepControl) -> bool:
    cancelled = bool(MPFuture.cancel(control))
    if control._trigger is not None:
        control._trigger.cancel()
    if control._cancel is not None:
        with suppress(InvalidStateError):
            control._cancel.set_result(None)
    return cancelled

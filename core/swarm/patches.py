"""The one place where hivemind is patched, because it offers no parameter.

A process that uses hivemind calls `install` once, at its start. tests/swarm/test_patches.py fails when the library
changes under a patch.
"""

import resource
from collections.abc import Callable, Iterator
from concurrent.futures import InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from hivemind.averaging import allreduce, averager, matchmaking
from hivemind.averaging.control import StepControl
from hivemind.dht import crypto, dht, protocol
from hivemind.dht.protocol import DHTProtocol
from hivemind.p2p import P2P
from hivemind.p2p.p2p_daemon_bindings import control
from hivemind.utils import MPFuture

from core.swarm.all_reduce.load_balancing import load_balance
from core.swarm.all_reduce.runner import AtomicAllReduce
from core.swarm.averaging.group_formation import ExpectedGroup
from core.swarm.dht.connection_limits import DAEMON_LIMITS
from core.swarm.dht.group_lookup import PacedKeyManager
from core.swarm.dht.node import SparingNode
from core.swarm.dht.record_limits import BoundedStorage, limited_store
from core.swarm.dht.signing_key import SigningKey, VerifyingKey
from core.swarm.event_loops import repaired
from core.swarm.traffic.lingering_close import lingering_serve
from core.swarm.traffic.link import Link
from core.swarm.traffic.rate_negotiation import RateNegotiation, negotiated_open, negotiated_serve
from core.swarm.traffic.throttled_streams import ThrottledStreams
from core.swarm.trust.parts import decoded

_DESCRIPTORS = 10_240
"""What macOS admits at most; each shared tensor takes one, and shells often allow no more than 1024."""

Patch = tuple[Any, str, Any]
"""A class or module of hivemind, the name of its attribute, and what replaces it."""


def install(session_folder: Path, link: Link) -> None:
    """Patch hivemind for this process and those forked from it later.

    To be called once, before the first daemon is started, the first tensor is shared and the first averager is made.

    Parameters:
        session_folder: nothing is left outside of it, however this process and its children end.
        link: limits and counts all traffic.
    """
    # hivemind shares tensors by name, which stays in /dev/shm when a process is killed.
    torch.multiprocessing.set_sharing_strategy("file_descriptor")
    _raise_descriptor_limit()
    for owner, name, replacement in patches(session_folder, link):
        setattr(owner, name, replacement)


def patches(session_folder: Path, link: Link) -> Iterator[Patch]:
    """Everything that `install` replaces."""
    # The daemon's sockets. hivemind: always in /tmp, where a killed process leaves them for ever.
    yield P2P, "_UNIX_SOCKET_PREFIX", f"/unix{session_folder}/"
    # The daemon relays for nobody. hivemind's `use_relay=False` is an argument that it ignores: relaying is on by
    # default in its configuration, and only a file turns it off. And it leaves limits of connections to this program.
    yield P2P, "_make_process_args", staticmethod(_restricted(P2P._make_process_args, session_folder / "p2pd.json"))
    yield from _traffic(link)
    # Tasks of averagers and of the DHT last until they are done, and messages to them arrive whole. hivemind: until the
    # garbage collector comes, and a message that arrives in parts ends the process.
    yield averager, "switch_to_uvloop", repaired(averager.switch_to_uvloop)
    yield dht, "switch_to_uvloop", repaired(dht.switch_to_uvloop)
    # The division of work among averagers. hivemind: a method that SciPy has deprecated.
    yield averager, "load_balance_peers", load_balance
    # All peers of a round end with the same bits, or none. hivemind: each with its own, and with lost parts.
    yield averager, "AllReduceRunner", AtomicAllReduce
    # A part that cannot be decoded is one more broken part. hivemind: an error, like that of a line.
    yield allreduce, "deserialize_torch_tensor", decoded
    # A group waits for all that are expected and still answer. hivemind: for whoever comes in a fixed time.
    yield averager, "Matchmaking", ExpectedGroup
    yield StepControl, "cancel", _cancel
    # A peer that looks for a group asks now and then. hivemind: again and again, without a pause.
    yield matchmaking, "GroupKeyManager", PacedKeyManager
    # A key is asked for from its nearest nodes. hivemind: from all, also to store there.
    yield dht, "DHTNode", SparingNode
    # Records are signed in 64 bytes. hivemind: in 256, with a key as long.
    yield crypto, "RSAPrivateKey", SigningKey
    yield crypto, "RSAPublicKey", VerifyingKey
    # What is kept for others is bounded. hivemind: without end, for anybody.
    yield protocol, "DHTLocalStorage", BoundedStorage
    yield DHTProtocol, "rpc_store", limited_store(DHTProtocol.rpc_store)


def _traffic(link: Link) -> Iterator[Patch]:
    """hivemind neither limits nor counts what goes between this process and the daemon, and loses ends of streams. They
    pass through `send_raw_data` and `receive_raw_data`, single calls to peers through the control connection."""
    rate_negotiation = RateNegotiation(link)
    streams = ThrottledStreams(link, rate_negotiation)
    yield P2P, "call_binary_stream_handler", negotiated_open(P2P.call_binary_stream_handler, rate_negotiation)
    serve = lingering_serve(P2P.add_binary_stream_handler)
    yield P2P, "add_binary_stream_handler", negotiated_serve(serve, rate_negotiation)
    yield P2P, "send_raw_data", staticmethod(streams.send)
    yield P2P, "receive_raw_data", staticmethod(streams.receive)
    yield control, "write_pbmsg", streams.write_call
    yield control, "read_pbmsg_safe", streams.read_call


def _restricted(make_arguments: Callable[..., list[str]], configuration: Path) -> Callable[..., list[str]]:
    def made(*arguments: object, **options: object) -> list[str]:
        configuration.write_text('{"Relay": {"Enabled": false}}')
        return make_arguments(*arguments, f=configuration, **DAEMON_LIMITS, **options)

    return made


def _cancel(control: StepControl) -> bool:
    """Cancel a round for good; two threads may do so at once.

    hivemind wakes the averager's process first and cancels then. Woken, it often finds nothing cancelled, and is not
    woken again: it searches on until the deadline, and joins a group that this peer does not wait for.
    """
    cancelled = bool(MPFuture.cancel(control))
    if control._trigger is not None:
        control._trigger.cancel()
    if control._cancel is not None:
        with suppress(InvalidStateError):
            control._cancel.set_result(None)
    return cancelled


def _raise_descriptor_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

"""The one place where hivemind is patched, because it offers no parameter. tests/swarm/test_patches.py fails when the
library changes under a patch."""

import asyncio
import resource
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import torch
from hivemind.p2p import P2P
from hivemind.p2p.p2p_daemon_bindings import control

from core.swarm.traffic import TrafficMeter

_HEADER = P2P.HEADER_LEN
_DESCRIPTORS = 10_240
"""What macOS admits at most; each shared tensor takes one, and shells often allow no more than 1024."""


def place_sockets(folder: Path) -> None:
    """Put the daemon's sockets into `folder` (hivemind: always /tmp, where a killed process leaves them for ever)."""
    P2P._UNIX_SOCKET_PREFIX = f"/unix{folder}/"


def share_memory_without_names() -> None:
    """Share tensors among processes by file descriptor (hivemind: by name, which stays in /dev/shm if they are killed).

    To be called before the first tensor is shared.
    """
    torch.multiprocessing.set_sharing_strategy("file_descriptor")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def count_traffic(meter: TrafficMeter) -> None:
    """Count every byte of tensors and calls that this process, and those forked from it later, hand to the daemon.

    hivemind has no counter. Streams pass through `send_raw_data` and `receive_raw_data`, single calls to peers through
    the control connection. Not covered: the daemon's own chatter and the encryption's overhead.
    """
    P2P.send_raw_data = staticmethod(_counted_send(P2P.send_raw_data, meter))
    P2P.receive_raw_data = staticmethod(_counted_receive(P2P.receive_raw_data, meter))
    control.write_pbmsg = _counted_call(control.write_pbmsg, meter.add_uploaded)
    control.read_pbmsg_safe = _counted_call(control.read_pbmsg_safe, meter.add_downloaded)


def _counted_send(send: Callable[..., Awaitable[None]], meter: TrafficMeter) -> Callable[..., Awaitable[None]]:
    async def counted(data: bytes, writer: asyncio.StreamWriter, **options: Any) -> None:
        await send(data, writer, **options)
        meter.add_uploaded(len(data) + _HEADER)

    return counted


def _counted_receive(receive: Callable[..., Awaitable[bytes]], meter: TrafficMeter) -> Callable[..., Awaitable[bytes]]:
    async def counted(reader: asyncio.StreamReader) -> bytes:
        data = await receive(reader)
        meter.add_downloaded(len(data) + _HEADER)
        return data

    return counted


def _counted_call(
    transfer: Callable[..., Awaitable[None]], count: Callable[[int], None]
) -> Callable[..., Awaitable[None]]:
    async def counted(stream: Any, message: Any) -> None:
        await transfer(stream, message)
        count(message.ByteSize())

    return counted

"""What a session needs before it meets its peers: device, data, task and model."""

import logging
from dataclasses import dataclass
from functools import partial
from random import Random

import requests
import torch
from transformers.modeling_utils import PreTrainedModel

from core.api.session import Start
from core.api.session_settings import SessionSettings
from core.api.snapshot import Transfer
from core.learning.data.download import Client, Read, StoppedError
from core.learning.data.fetch import Fetcher
from core.learning.data.rotation import Rotation
from core.learning.model import build_model
from core.learning.tasks import task_for
from core.learning.tasks.task import Task
from core.swarm.traffic.link import Link
from core.swarm.traffic.throttled_download import ThrottledDownload
from core.system.cache import Cache
from core.system.reach import reach_of
from core.trainer.control import Control
from core.trainer.machine.device import device_of
from core.trainer.reporter import Reporter
from core.trainer.session import apply_settings
from core.trainer.session_status import BeforeJoining, Measurements, SessionStatus

log = logging.getLogger(__name__)

_HELD_PERIOD = 0.25
"""Seconds between two checks whether the session is still on hold."""


@dataclass(frozen=True)
class Process:
    """The parts that exist before preparation."""

    start: Start
    control: Control
    reporter: Reporter
    link: Link
    measurements: Measurements


@dataclass(frozen=True)
class Prepared:
    """The parts of a session that need no peers."""

    settings: SessionSettings
    """The settings that are in effect."""
    device: torch.device
    task: Task
    model: PreTrainedModel
    rotation: Rotation


def prepare(process: Process, cache: Cache) -> Prepared:
    start, control, measurements = process.start, process.control, process.measurements
    manifest, settings = start.manifest, control.settings
    run = BeforeJoining(manifest.training.target_batch_size)
    status = SessionStatus(measurements, run, "preparing", process.reporter.wake)
    process.reporter.report(status.report)
    # Before any other use of the GPU.
    device = device_of(start.settings.gpu)
    apply_settings(settings, device)
    measurements.memory.check(settings.limits.memory_limit)
    read = ThrottledDownload(process.link, control.leaving)
    connect = partial(Client, start.access_token, start.origin, reach_of(start.origin, manifest.initial_peers))
    client = connect(read=read)
    ahead = Fetcher(cache, connect(read=_held_back(read, control)), control.leaving)
    rotation = Rotation(manifest.data, cache, ahead.fetch, Random(), yielding=partial(wait_until_resumed, control))
    paths = Fetcher(cache, client, control.leaving).fetch(
        manifest.needed_files(rotation.shards(rotation.number)),
        lambda done, total: status.enter("preparing", transfer=Transfer(done, total)),
    )
    rotation.make_ready(rotation.number)
    log.info("start: data ready")
    status.enter("joining")
    tokenizer = paths[0] if manifest.tokenizer else None
    model = build_model(manifest)
    task = task_for(manifest, model.config, tokenizer)
    model.train()
    model.to(device=device)  # type: ignore[call-arg]  # transformers hides torch's signature
    log.info("start: model built")
    if control.leaving.is_set():
        raise StoppedError
    return Prepared(settings, device, task, model, rotation)


def _held_back(read: Read, control: Control) -> Read:
    """Reads nothing while the session is on hold."""

    def when_free(response: requests.Response, size: int) -> bytes:
        wait_until_resumed(control)
        return read(response, size)

    return when_free


def wait_until_resumed(control: Control) -> None:
    """Wait as long as the session is on hold.

    Raises:
        StoppedError: it has to leave.
    """
    while control.wait_while_held(_HELD_PERIOD):
        pass
    if control.leaving.is_set():
        raise StoppedError

"""Builds a session, and closes its parts in the reverse order, also after errors."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import requests
import torch
from hivemind import DHT
from transformers.modeling_utils import PreTrainedModel

from core.api.message import Message
from core.api.project.manifest import Manifest
from core.api.session import Fault, Remark, Start
from core.api.session_settings import SessionSettings
from core.api.snapshot import Transfer
from core.learning.data import training_samples
from core.learning.data.download import Client, Read, StoppedError
from core.learning.data.fetch import Fetcher
from core.learning.data.rotation import Rotation
from core.learning.model import build_model, count_parameters
from core.learning.order import Order
from core.learning.tasks import task_for
from core.learning.tasks.task import Task
from core.swarm.all_reduce.bandwidth import min_bandwidth
from core.swarm.averaging.group import Update
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.averaging.overlap.overlapping import OverlappingOptimizer
from core.swarm.build import make_optimizer
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.connectivity.reachability import PortSettings, ReachabilityMonitor, join_reachable
from core.swarm.dht.addresses import peer_id_of
from core.swarm.dht.contributions import Publisher
from core.swarm.liveness import Liveness, processes_of
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.swarm.traffic.throttled_download import ThrottledDownload
from core.swarm.traffic.wire_monitor import WireMonitor
from core.swarm.trust.validation import tolerance_of
from core.system.cache import Cache
from core.system.reach import reach_of
from core.trainer.control import Control
from core.trainer.drop_remarks import DropRemarks
from core.trainer.local_copy import LocalCopy
from core.trainer.machine.contention import Contention
from core.trainer.machine.device import device_of, reader_of
from core.trainer.machine.throttle import Throttle
from core.trainer.microbatch import Microbatches
from core.trainer.peer_validation import NoPeerValidation, PeerValidation
from core.trainer.reporter import Reporter
from core.trainer.session import Session, apply_settings
from core.trainer.session_status import BeforeJoining, Joined, Measurements, SessionStatus
from core.trainer.state_sync import StateSync

log = logging.getLogger(__name__)

_HELD_PERIOD = 0.25
"""Seconds between two checks whether the session is still on hold."""


@dataclass(frozen=True)
class _Process:
    """The parts that exist before preparation."""

    start: Start
    control: Control
    reporter: Reporter
    link: Link
    measurements: Measurements


@dataclass(frozen=True)
class _Prepared:
    """The parts of a session that need no peers."""

    settings: SessionSettings
    """The settings that are in effect."""
    device: torch.device
    task: Task
    model: PreTrainedModel
    rotation: Rotation


@dataclass(frozen=True)
class _Peer:
    """The session's place in the swarm."""

    dht: DHT
    backbone: BackboneMonitor
    reachability: ReachabilityMonitor


@contextmanager
def joined_session(start: Start, control: Control, reporter: Reporter) -> Iterator[Session]:
    """A session that is a peer of its run; on the way out it leaves the run in order.

    Raises:
        StoppedError: it had to leave before it joined.
        IdlehiveError: the session cannot begin.
    """
    link = Link()
    link.apply(control.settings.limits)
    # Not only between two microbatches: a round on a slow link takes a minute.
    control.on_settings = lambda settings: link.apply(settings.limits)
    install(Path(start.session_folder), link)
    process = _Process(start, control, reporter, link, Measurements(link))
    with closing(Cache(Path(start.cache), start.settings.limits.cache_size)) as cache:
        prepared = _prepare(process, cache)
        with ExitStack() as last, ExitStack() as opened:
            session = _join(process, prepared, opened)
            try:
                yield session
            finally:
                last.callback(session.leave())


def _prepare(process: _Process, cache: Cache) -> _Prepared:
    start, control, measurements = process.start, process.control, process.measurements
    manifest, settings = start.manifest, control.settings
    status = SessionStatus(measurements, BeforeJoining(manifest.training.target_batch_size), "preparing")
    process.reporter.report(status.report)
    # Before any other use of the GPU.
    device = device_of(start.settings.gpu)
    apply_settings(settings, device)
    measurements.memory.check(settings.limits.memory_limit)
    read = ThrottledDownload(process.link, control.leaving)
    connect = partial(Client, start.access_token, start.origin, reach_of(start.origin, manifest.initial_peers))
    client = connect(read=read)
    ahead = Fetcher(cache, connect(read=_held_back(read, control)), control.leaving)
    rotation = Rotation(manifest.data, cache, ahead.fetch, Random(), yielding=partial(give_way, control))
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
    return _Prepared(settings, device, task, model, rotation)


def _held_back(read: Read, control: Control) -> Read:
    """Reads nothing while the session is on hold."""

    def when_free(response: requests.Response, size: int) -> bytes:
        give_way(control)
        return read(response, size)

    return when_free


def give_way(control: Control) -> None:
    """Wait as long as the session is on hold.

    Raises:
        StoppedError: it has to leave.
    """
    while control.wait_while_held(_HELD_PERIOD):
        pass
    if control.leaving.is_set():
        raise StoppedError


def _join(process: _Process, prepared: _Prepared, opened: ExitStack) -> Session:
    peer = _join_swarm(process, opened)

    def on_update(update: Update) -> None:
        process.link.way_in.add_round(update.slowest_partner)
        session.on_update(update)

    optimizer = _optimizer(process, prepared, peer, on_update)
    opened.callback(optimizer.shutdown)
    log.info("start: averagers running")
    _forward_commands(process, optimizer)
    _tell_of_foreign_states(optimizer, process.reporter)
    liveness = Liveness(processes_of(peer.dht, optimizer), partial(_end_process, process.control, process.reporter))
    opened.callback(liveness.stop)
    session = _session(process, prepared, peer, optimizer, liveness)
    return session


def _join_swarm(process: _Process, opened: ExitStack) -> _Peer:
    start, settings = process.start, process.control.settings
    initial_peers = start.manifest.initial_peers
    ports = PortSettings(settings.listen_port, settings.port_mapping == "yes")
    dht, reachability = join_reachable(initial_peers, Path(start.identity), ports, opened)
    log.info("start: swarm joined")
    WireMonitor(process.link, dht).start()
    opened.callback(dht.shutdown)
    backbone = [peer_id_of(address) for address in initial_peers]
    peer = _Peer(
        dht,
        BackboneMonitor(dht, backbone, start.manifest.run_id),
        ReachabilityMonitor(dht, initial_peers, ports, reachability),
    )
    for monitor in (peer.backbone, peer.reachability):
        monitor.start()
        opened.callback(monitor.stop)
    return peer


def _optimizer(
    process: _Process, prepared: _Prepared, peer: _Peer, on_update: Callable[[Update], None]
) -> CollaborativeOptimizer:
    manifest, control = process.start.manifest, process.control
    return make_optimizer(
        dht=peer.dht,
        run_id=manifest.run_id,
        parameters=prepared.model.parameters(),
        training=manifest.training,
        averaging=manifest.averaging,
        backbone=peer.backbone,
        on_update=on_update,
        yielding=lambda: control.interrupted,
        limits=prepared.settings.limits,
        line_bandwidth=process.link.bandwidth,
        kind=OverlappingOptimizer,
        overlap=manifest.averaging.overlap,
        on_drop=DropRemarks(lambda remark: process.reporter.send(Remark(remark))),
    )


def _forward_commands(process: _Process, optimizer: CollaborativeOptimizer) -> None:
    """Pass on at once what a round must not wait for."""

    def on_settings(settings: SessionSettings) -> None:
        process.link.apply(settings.limits)
        optimizer.run_state.limit_transfer(settings.limits)

    process.control.on_settings, process.control.on_interruption = on_settings, optimizer.interrupt


def _tell_of_foreign_states(optimizer: CollaborativeOptimizer, reporter: Reporter) -> None:
    for averager in (optimizer.state_averager, optimizer.grad_averager):
        averager.on_foreign_state = lambda: reporter.send(Remark(Message("foreign_state")))


def _session(
    process: _Process, prepared: _Prepared, peer: _Peer, optimizer: CollaborativeOptimizer, liveness: Liveness
) -> Session:
    start, control, reporter = process.start, process.control, process.reporter
    manifest, training = start.manifest, start.manifest.training
    run = Joined(
        optimizer,
        training.target_batch_size,
        min_bandwidth(count_parameters(prepared.model), manifest.averaging),
        lambda: peer.reachability.value,
    )
    status = SessionStatus(process.measurements, run, "joining")
    reporter.report(status.report)
    order = _order(prepared, start, peer.dht)
    copy = LocalCopy(Path(start.copies), manifest.run_id) if start.copies is not None else None
    return Session(
        optimizer=optimizer,
        microbatches=Microbatches(
            order, prepared.model, prepared.device, lambda: control.interrupted, prepared.rotation.at
        ),
        peer_validation=peer_validation_of(optimizer, prepared.model, order, manifest, prepared.rotation.has),
        state_sync=StateSync(optimizer, copy, status, control, lambda remark: reporter.send(Remark(remark))),
        throttle=Throttle(reader_of(start.settings.gpu), contention=Contention()),
        run=run,
        status=status,
        measurements=process.measurements,
        control=control,
        reporter=reporter,
        publisher=Publisher(peer.dht, manifest.run_id, Path(start.volunteer) if start.volunteer else None),
        liveness=liveness,
        device=prepared.device,
        applied=prepared.settings,
    )


def peer_validation_of(
    optimizer: CollaborativeOptimizer,
    model: PreTrainedModel,
    order: Order,
    manifest: Manifest,
    has_portion: Callable[[int], bool],
) -> PeerValidation | NoPeerValidation:
    """A session's part in validating the others."""
    if not manifest.task.is_reproducible:
        return NoPeerValidation()
    tolerance = tolerance_of(manifest.averaging.compression)
    return PeerValidation(
        optimizer, model, order, tolerance=tolerance, portions=len(manifest.data.portions), has_portion=has_portion
    )


def _order(prepared: _Prepared, start: Start, dht: DHT) -> Order:
    manifest = start.manifest
    samples = partial(training_samples, manifest.data, prepared.rotation.paths)
    return Order(prepared.task, samples, manifest.training.microbatch_size, manifest.run_id, dht.peer_id.to_bytes())


def _end_process(control: Control, reporter: Reporter, name: str) -> None:
    """End at once, since the training loop may wait for ever for the part that has ended. The subreaper cleans up."""
    if control.leaving.is_set():
        return
    reporter.stop()
    reporter.send(Fault(Message(name)))
    logging.shutdown()
    os._exit(1)

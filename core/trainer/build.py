"""Builds a session, and closes its parts in the reverse order, also after errors."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hivemind import DHT
from transformers.modeling_utils import PreTrainedModel

from core.api.message import Message
from core.api.project.manifest import Manifest
from core.api.session import Fault, Remark, Start
from core.api.session_settings import SessionSettings
from core.learning.batch_process import BatchProcess
from core.learning.data import training_samples
from core.learning.model import count_parameters
from core.learning.order import Order
from core.learning.precision import half_precision_of
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
from core.swarm.traffic.wire_monitor import WireMonitor
from core.swarm.trust.validation import tolerance_of
from core.system.cache import Cache
from core.trainer.control import Control
from core.trainer.drop_remarks import DropRemarks
from core.trainer.local_copy import LocalCopy
from core.trainer.machine.contention import Contention
from core.trainer.machine.device import reader_of
from core.trainer.machine.memory_guard import Room
from core.trainer.machine.throttle import Throttle
from core.trainer.microbatch import Microbatches, stop_if
from core.trainer.peer_validation import NoPeerValidation, PeerValidation
from core.trainer.preparation import Prepared, Process, prepare
from core.trainer.reporter import Reporter
from core.trainer.session import Session
from core.trainer.session_status import Joined, Measurements, SessionStatus
from core.trainer.state_sync import StateSync

log = logging.getLogger(__name__)


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
    process = Process(start, control, reporter, link, Measurements(link))
    with closing(Cache(Path(start.cache), start.settings.limits.cache_size)) as cache:
        prepared = prepare(process, cache)
        with ExitStack() as last, ExitStack() as opened:
            session = _join(process, prepared, opened)
            try:
                yield session
            finally:
                last.callback(session.leave())


def _join(process: Process, prepared: Prepared, opened: ExitStack) -> Session:
    peer = _join_swarm(process, opened)

    def on_update(update: Update) -> None:
        process.link.downlink.add_round(update.slowest_partner)
        session.on_update(update)

    optimizer = _optimizer(process, prepared, peer, on_update)
    opened.callback(optimizer.shutdown)
    log.info("start: averagers running")
    _tell_of_foreign_states(optimizer, process.reporter)
    liveness = Liveness(processes_of(peer.dht, optimizer), partial(_end_process, process.control, process.reporter))
    opened.callback(liveness.stop)
    batch_process = BatchProcess(
        _order(prepared, process.start, peer.dht), partial(stop_if, lambda: process.control.interrupted)
    )
    opened.callback(batch_process.close)
    _forward_commands(process, optimizer, batch_process)
    session = _session(process, prepared, peer, optimizer, liveness, batch_process=batch_process)
    return session


def _join_swarm(process: Process, opened: ExitStack) -> _Peer:
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
    process: Process, prepared: Prepared, peer: _Peer, on_update: Callable[[Update], None]
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


def _forward_commands(process: Process, optimizer: CollaborativeOptimizer, batch_process: BatchProcess) -> None:
    """Pass on at once what a round, or a batch that is being made, must not wait for."""

    def on_settings(settings: SessionSettings) -> None:
        process.link.apply(settings.limits)
        optimizer.run_state.limit_transfer(settings.limits)

    def on_interruption() -> None:
        optimizer.interrupt()
        batch_process.suspend()

    process.control.on_settings, process.control.on_interruption = on_settings, on_interruption
    process.control.on_resume = batch_process.resume


def _tell_of_foreign_states(optimizer: CollaborativeOptimizer, reporter: Reporter) -> None:
    for averager in (optimizer.state_averager, optimizer.grad_averager):
        averager.on_foreign_state = lambda: reporter.send(Remark(Message("foreign_state")))


def _session(
    process: Process,
    prepared: Prepared,
    peer: _Peer,
    optimizer: CollaborativeOptimizer,
    liveness: Liveness,
    *,
    batch_process: BatchProcess,
) -> Session:
    start, control, reporter = process.start, process.control, process.reporter
    manifest, training = start.manifest, start.manifest.training
    run = Joined(
        optimizer,
        training.target_batch_size,
        min_bandwidth(count_parameters(prepared.model), manifest.averaging),
        lambda: peer.reachability.value,
    )
    status = SessionStatus(process.measurements, run, "joining", reporter.wake)
    reporter.report(status.report)
    copy = LocalCopy(Path(start.copies), manifest.run_id) if start.copies is not None else None
    microbatches = _microbatches(process, prepared, batch_process)
    return Session(
        optimizer=optimizer,
        microbatches=microbatches,
        peer_validation=peer_validation_of(
            optimizer,
            prepared.model,
            batch_process.order,
            manifest,
            has_portion=prepared.rotation.has,
            largest=lambda: microbatches.largest,
        ),
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


def _microbatches(process: Process, prepared: Prepared, batch_process: BatchProcess) -> Microbatches:
    control, is_mixed = process.control, process.start.manifest.training.precision == "mixed"
    # On a card, an allocation that fails tells.
    room = Room(process.measurements.memory, lambda: control.settings.limits.memory_limit)
    return Microbatches(
        batch_process.order,
        prepared.model,
        prepared.device,
        lambda: control.interrupted,
        prepared.rotation.at,
        batches=batch_process.batches,
        half_precision=half_precision_of(prepared.device) if is_mixed else None,
        room=room if prepared.device.type == "cpu" else None,
    )


def peer_validation_of(
    optimizer: CollaborativeOptimizer,
    model: PreTrainedModel,
    order: Order,
    manifest: Manifest,
    *,
    has_portion: Callable[[int], bool] = lambda _portion: True,
    largest: Callable[[], int] = lambda: 1 << 32,
) -> PeerValidation | NoPeerValidation:
    """A session's part in validating the others."""
    if not manifest.task.is_reproducible:
        return NoPeerValidation()
    tolerance = tolerance_of(manifest.averaging.compression)
    return PeerValidation(
        optimizer,
        model,
        order,
        tolerance=tolerance,
        portions=len(manifest.data.portions),
        has_portion=has_portion,
        largest=largest,
    )


def _order(prepared: Prepared, start: Start, dht: DHT) -> Order:
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

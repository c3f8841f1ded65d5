"""One session: prepare, join, catch up, contribute, say goodbye. Reads from top to bottom."""

import hashlib
import logging
import os
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import torch
from hivemind import DHT
from transformers import PreTrainedModel

from core.api.message import Message
from core.api.session import EpochDone, Fault, Remark, Start
from core.api.session_settings import SessionSettings
from core.learning.data import source_for
from core.learning.data.cache import Cache
from core.learning.data.download import Client
from core.learning.data.fetch import Fetcher
from core.learning.data.source import stream
from core.learning.model import build_model, count_parameters
from core.learning.tasks import task_for
from core.learning.tasks.task import Task
from core.swarm.averaging.bandwidth import min_bandwidth, silence
from core.swarm.averaging.collaborative_step import Interrupted, Isolated, RoundFailed, StateUnavailable, Update
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.build import make_optimizer
from core.swarm.dht.backbone_monitor import BackboneMonitor
from core.swarm.dht.contributions import Publisher, Round, publisher_of
from core.swarm.dht.peer import join_swarm, listening_place, peer_id_of
from core.swarm.patches import install
from core.swarm.traffic.meter import Line
from core.swarm.traffic.throttled_download import ThrottledDownload
from core.system.reach import reach_of
from core.trainer.contention import Contention
from core.trainer.control import Control
from core.trainer.device import cap_memory, device_of, reader_of
from core.trainer.liveness import Liveness, processes_of
from core.trainer.local_copy import LocalCopy
from core.trainer.memory_guard import MemoryGuard
from core.trainer.microbatch import Microbatches
from core.trainer.reporter import Reporter
from core.trainer.session_status import SessionStatus
from core.trainer.state_sync import StateSync
from core.trainer.throttle import Throttle

log = logging.getLogger(__name__)

_ALONE_FOR = 60.0
"""Seconds in which somebody must be in reach again."""
_LET_GO_EVERY = 0.25
"""Seconds between two looks, while held, at whether a round has begun to search again."""


class Session:
    """The life of this process. Not reusable: hivemind's processes end with it."""

    def __init__(self, start: Start, control: Control, reporter: Reporter) -> None:
        self._start, self._control, self._reporter = start, control, reporter
        self._manifest = start.manifest
        self._line = Line()
        self._optimizer: CollaborativeOptimizer | None = None
        # Not only between two microbatches: a round on a slow line takes a minute.
        control.on_settings = self._take_ceilings
        self._line.apply(control.settings.limits)
        self._status = SessionStatus(start.manifest.training.target_batch_size, self._line)
        self._settings: SessionSettings | None = None
        self._device = device_of(start.settings.gpu)
        self._throttle = Throttle(reader_of(start.settings.gpu), contention=Contention())
        self._memory = MemoryGuard()
        self._company: BackboneMonitor | None = None
        self._status.remark = lambda message: reporter.send(Remark(message))
        self._state_sync: StateSync | None = None
        self._liveness: Liveness | None = None

    def run(self) -> None:
        """Return after a polite goodbye, once the engine says Leave or goes away.

        Raises:
            StoppedError: told to leave while data was being fetched.
            IdlehiveError: the session cannot go on.
        """
        install(Path(self._start.session_folder), self._line, silence=silence(self._manifest.averaging))
        self._reporter.start(self._status.report)
        self._apply_settings()
        with closing(Cache(Path(self._start.cache), self._start.settings.limits.cache_size)) as cache:
            tokenizer, shards = self._fetch(cache)
            model = build_model(self._manifest)
            task = task_for(self._manifest, model.config, tokenizer)
            self._status.min_bandwidth = min_bandwidth(count_parameters(model), self._manifest.averaging)
            model.to(device=self._device)  # type: ignore[call-arg]  # transformers hides torch's signature
            if not self._control.leaving.is_set():
                self._take_part(task, shards, model)

    # -- prepare and join --------------------------------------------------------------------------------------

    def _fetch(self, cache: Cache) -> tuple[Path | None, list[Path]]:
        """Tokenizer and shards."""
        read = ThrottledDownload(self._line, self._control.leaving)
        origin = self._start.origin
        client = Client(self._start.access_token, origin, reach_of(origin, self._manifest.initial_peers), read=read)
        fetcher = Fetcher(cache, client, self._control.leaving)
        paths = fetcher.fetch(self._manifest.needed_files(), self._status.show_transfer)
        self._status.enter("joining")
        return (paths[0], paths[1:]) if self._manifest.tokenizer else (None, paths)

    def _take_part(self, task: Task, shards: list[Path], model: PreTrainedModel) -> None:
        dht = self._join()
        optimizer = None
        try:
            optimizer = self._optimizer = self._make_optimizer(dht, model)
            self._control.on_interruption = optimizer.interrupt
            self._liveness = Liveness(processes_of(dht, optimizer), self._end_for_want_of)
            self._status.watch(optimizer)
            folder = _path(self._start.copies)
            copy = LocalCopy(folder, self._manifest.run_id) if folder is not None else None
            state_sync = self._state_sync = StateSync(optimizer, copy, self._status, self._control)
            state_sync.begin()
            seed = _seed(dht, optimizer.local_epoch)
            size = self._manifest.training.microbatch_size
            batches = task.batches(stream(source_for(self._manifest.data), shards, seed), size, seed)
            model.train()
            self._contribute(optimizer, state_sync, Microbatches(task, model, batches, size, self._device))
        finally:
            self._say_goodbye(dht, optimizer)

    def _join(self) -> DHT:
        initial_peers = self._manifest.initial_peers
        place = listening_place(initial_peers, self._control.settings.listen_port)
        return join_swarm(initial_peers, Path(self._start.identity), place)

    def _make_optimizer(self, dht: DHT, model: PreTrainedModel) -> CollaborativeOptimizer:
        publisher = publisher_of(dht, self._manifest.run_id, _path(self._start.volunteer))
        company = self._company = BackboneMonitor(
            dht, [peer_id_of(address) for address in self._manifest.initial_peers]
        )
        company.start()

        def on_update(update: Update) -> None:
            self._tell_update(update, publisher)

        return make_optimizer(
            dht=dht,
            run_id=self._manifest.run_id,
            parameters=model.parameters(),
            training=self._manifest.training,
            averaging=self._manifest.averaging,
            company=company,
            on_update=on_update,
            yielding=lambda: self._control.interrupted,
            limits=self._control.settings.limits,
        )

    def _take_ceilings(self, settings: SessionSettings) -> None:
        self._line.apply(settings.limits)
        if self._optimizer is not None:
            self._optimizer.limit_state(settings.limits)

    # -- contribute --------------------------------------------------------------------------------------------

    def _contribute(self, optimizer: CollaborativeOptimizer, state_sync: StateSync, microbatches: Microbatches) -> None:
        counters = self._status.counters
        self._begin()
        while not self._control.leaving.is_set():
            if self._control.held:
                self._hold(optimizer)
                continue
            settings = self._apply_settings(optimizer)
            done = microbatches.compute(settings.latency_target)
            gpu_seconds = done.seconds if settings.gpu else 0.0
            if not state_sync.is_good(done.loss):
                optimizer.zero_grad()
                continue
            counters.add_microbatch(done.samples, done.loss, gpu_seconds, done.flops_per_sample)
            self._together(optimizer, partial(optimizer.step, batch_size=done.samples))
            optimizer.zero_grad()
            self._rest(optimizer, done.seconds)
            counters.joules = self._throttle.joules
            state_sync.keep_now_and_then()
        counters.end(time.monotonic())

    def _rest(self, optimizer: CollaborativeOptimizer, busy: float) -> None:
        """Stay under the ceilings. Rounds go on meanwhile: they cost little, and a group counts on this peer."""
        while not self._control.interrupted:
            seconds = self._throttle.rest(self._control.settings.limits, torch.get_num_threads(), busy)
            if not seconds:
                return
            self._control.pause(seconds)
            self._together(optimizer, optimizer.follow)
            busy = 0.0

    def _together(self, optimizer: CollaborativeOptimizer, act: Callable[[], None]) -> None:
        """Do something that may meet the other peers."""
        try:
            act()
        except Interrupted as error:
            log.info("epoch %d: %s", optimizer.local_epoch, error)
        except RoundFailed as error:
            self._status.counters.add_failed_round()
            log.warning("epoch %d: %s", optimizer.local_epoch, error)
            if act != optimizer.follow and not self._control.interrupted:
                # At once, as the others do: who computed first would find no group any more.
                self._together(optimizer, optimizer.follow)
        except Isolated as error:
            self._wait_for_company(optimizer, error)
        except StateUnavailable as error:
            log.warning("out of step: %s", error)
            if self._state_sync is not None:
                self._state_sync.catch_up()

    def _wait_for_company(self, optimizer: CollaborativeOptimizer, error: Isolated) -> None:
        """Cut off: compute nothing until somebody can be reached. What was accumulated counts if the epoch still does.

        Raises:
            Isolated: it takes too long; only a new session contacts the backbone anew.
        """
        log.warning("epoch %d: %s", optimizer.local_epoch, error)
        self._status.counters.end(time.monotonic())
        self._status.enter("joining")
        self._status.cut_off = True
        give_up = time.monotonic() + _ALONE_FOR
        while not self._control.interrupted and not optimizer.is_in_company:
            if time.monotonic() > give_up:
                raise error
            self._control.pause(1.0)
        self._status.cut_off = False
        self._status.enter("contributing")
        self._begin()

    def _tell_update(self, update: Update, publisher: Publisher) -> None:
        loss = self._status.counters.add_update(update)
        peers = self._status.peers
        log.info("epoch %d: %d own samples, %d in the group", update.epoch, update.own_samples, update.group_size)
        self._reporter.send(EpochDone(update.epoch, loss, update.own_samples, peers, time.time()))
        if update.own_samples:
            settings, speed = self._control.settings, self._status.samples_per_second
            done = Round(update.epoch, update.own_samples, loss)
            publisher.tell(done, speed, wanted=bool(settings.publish_contributions), name=settings.display_name)

    def _hold(self, optimizer: CollaborativeOptimizer) -> None:
        self._status.counters.end(time.monotonic())
        self._status.enter("holding")
        optimizer.hold()
        while self._control.wait_while_held(_LET_GO_EVERY):
            optimizer.let_go()
        if not self._control.leaving.is_set():
            optimizer.resume()
            self._status.enter("contributing")
            self._begin()

    def _begin(self) -> None:
        self._status.counters.begin(time.monotonic())
        self._throttle.begin()

    def _apply_settings(self, optimizer: CollaborativeOptimizer | None = None) -> SessionSettings:
        settings = self._control.settings
        limits = settings.limits
        if settings != self._settings:
            self._settings = settings
            torch.set_num_threads(limits.threads_on(os.cpu_count() or 2))
            cap_memory(self._device, limits.gpu_memory)
            if optimizer is not None:
                optimizer.fit_to(limits)
        self._memory.check(limits.memory_limit)
        self._status.memory = self._memory.held
        return settings

    # -- leave -------------------------------------------------------------------------------------------------

    def _end_for_want_of(self, name: str) -> None:
        """On the watching thread: the training loop may wait for ever for what has ended. The subreaper clears up."""
        if self._control.leaving.is_set():
            return
        self._reporter.stop()
        self._reporter.send(Fault(Message(name)))
        logging.shutdown()
        os._exit(1)

    def _say_goodbye(self, dht: DHT, optimizer: CollaborativeOptimizer | None) -> None:
        if self._liveness is not None and (missing := self._liveness.missing) is not None:
            # What broke the loop is a consequence, and what is dead cannot be asked for the state or shut down.
            self._end_for_want_of(missing)
        if self._control.leaving.is_set():
            # A session that fails tells why after its goodbye; the engine would take this for an end without a reason.
            self._status.enter("leaving")
        keep = self._state_sync.last_copy() if self._state_sync is not None else None
        if self._liveness is not None:
            self._liveness.stop()
        if self._company is not None:
            self._company.stop()
        if optimizer is not None:
            optimizer.shutdown()
        dht.shutdown()
        if keep is not None:
            keep()


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _seed(dht: DHT, epoch: int) -> int:
    """The order in which this peer sees the data: another one for each peer, and after each return."""
    digest = hashlib.sha256(dht.peer_id.to_bytes() + epoch.to_bytes(8, "big")).digest()
    return int.from_bytes(digest[:7], "big")

"""Validates what trainers bring to the rounds: takes one at a time, has its gradients computed again, and compares.

See `core.swarm.trust.validation` for how, `core.host.recomputation` for the process that computes.
"""

import logging
import math
import queue
import random
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import msgspec
import torch
from hivemind.p2p import PeerID
from safetensors.torch import save_file

from core.client.installation import core_command, core_environment
from core.host.recomputation import Answer, Job, Setup
from core.learning.order import Piece
from core.swarm.dht.work_records import WorkRecords
from core.swarm.trust.validation import MOST_LATE, Evidence, Verdicts, Wanted, tolerance_of

log = logging.getLogger(__name__)

_LONGEST_CASE = 3600.0
"""Seconds in which a case is computed again, or given up."""

_SLOWER = 10.0
"""How many times longer than in the quickest case a sample may take. If a case is given up that has taken longer, that
is the doing of whoever named the samples, and not of this computer."""

_ASKED_FOR = 0.25
"""Chance that the next validation heeds those who ask for one."""

Parameters = Sequence[torch.Tensor]


@dataclass(frozen=True)
class _Case:
    evidence: Evidence
    parameters: Mapping[int, Parameters]
    """By epoch."""


class Validation(threading.Thread):
    """Of one backbone. Begin it with `start`.

    Parameters:
        work: what peers say of their work.
        folder: for parameters, while a case is computed.
        program: in place of the process that computes.
    """

    def __init__(
        self,
        setup: Setup,
        work: WorkRecords,
        folder: Path,
        program: Sequence[str] = (),
    ) -> None:
        super().__init__(name="validation", daemon=True)
        self._setup, self._work, self._folder = setup, work, folder
        self._tolerance = tolerance_of(setup.manifest.averaging.compression)
        self._program = program or core_command("core.host.recomputation")
        self._process: subprocess.Popen[bytes] | None = None
        self._cases: queue.SimpleQueue[_Case | None] = queue.SimpleQueue()
        self._pace = math.inf
        """Seconds for a sample, in the quickest case of a peer that passed."""
        self._asked_for: str | None = None
        """Validated like a newcomer."""
        self._verdicts, self._is_busy, self._stopped = Verdicts(), False, threading.Event()
        self.on_verdict: Callable[[Evidence, float, bool], None] = lambda _evidence, _deviation, _is_good: None
        """Called, on this thread, with what a peer sent, how far that is from what its samples give, and whether that
        is near enough."""
        self.on_guilty: Callable[[Evidence], None] = lambda _evidence: None
        """Called likewise if the peer has failed again."""
        self.on_silent: Callable[[Evidence], None] = lambda _evidence: None
        """Called likewise if the peer again and again says nothing of its work that fits, while others do."""

    @property
    def wanted(self) -> Wanted | None:
        """Who is to be watched in the next round; None if nobody is."""
        if self._is_busy:
            return None
        passed = tuple(peer for peer in self._verdicts.passed if peer != self._asked_for)
        return Wanted(self._verdicts.suspects, passed, self._verdicts.waiting)

    def offer(self, evidence: Evidence, parameters: Mapping[int, Parameters]) -> None:
        """Validate this, unless something else is being validated. `parameters` has those of the latest epochs."""
        if not self._is_busy and evidence.weight > 0:
            self._is_busy = True
            self._cases.put(_Case(evidence, parameters))

    def stop(self) -> None:
        self._stopped.set()
        self._cases.put(None)
        if self._process is not None:
            self._process.kill()
        if self.is_alive():
            self.join(5.0)

    def run(self) -> None:
        while (case := self._cases.get()) is not None:
            try:
                self._judge(case)
                self._asked_for = _now_and_then(self._work.accused())
            except Exception:  # top level of the thread: one case is lost, not all that follow
                if self._stopped.is_set():
                    break
                log.exception("a validation failed")
                self._end_process()
            self._is_busy = False
        self._end_process()

    def _judge(self, case: _Case) -> None:
        evidence = case.evidence
        deviation = self._deviation(case)
        if deviation is None:
            return
        is_good = deviation <= self._tolerance
        log.log(
            logging.INFO if is_good else logging.WARNING,
            *("epoch %d: %s brought %d samples, which differ by %.3g of their norm from what they give",),
            *(evidence.epoch, evidence.peer, evidence.weight, deviation),
        )
        is_guilty = self._verdicts.add(evidence.peer, is_good=is_good)
        self.on_verdict(evidence, deviation, is_good)
        if is_guilty:
            self.on_guilty(evidence)

    def _deviation(self, case: _Case) -> float | None:
        """None if nothing can be said."""
        evidence = case.evidence
        if not all(evidence.epoch - late in case.parameters for late in range(min(MOST_LATE, evidence.epoch) + 1)):
            return None
        manifest, peer = self._setup.manifest, PeerID.from_base58(evidence.peer)
        target, portions = manifest.training.target_batch_size, len(manifest.data.portions)

        def fits(epoch: int, pieces: Sequence[Piece]) -> bool:
            return epoch == evidence.epoch and evidence.is_supported_by(pieces, target, portions)

        pieces, others, has_refused = self._work.wait_for(peer, evidence.slot, fits, self._stopped.wait)
        if pieces is None:
            log.info("epoch %d: %s says nothing of its work that fits", evidence.epoch, evidence.peer)
            is_silent = (has_refused or others) and not self._stopped.is_set()
            if is_silent and self._verdicts.add_silence(evidence.peer, is_certain=has_refused):
                self.on_silent(evidence)
            return None
        with tempfile.TemporaryDirectory(dir=self._folder, prefix="validation-") as folder:
            files = {epoch: f"{folder}/{epoch}" for epoch in {piece.epoch for piece in pieces}}
            for epoch, file in files.items():
                numbered = enumerate(case.parameters[epoch])
                save_file({str(number): value.contiguous() for number, value in numbered}, file)
            answer = self._ask(Job(evidence, peer.to_bytes(), tuple(pieces), files))
        if answer is None:
            log.warning("epoch %d: the samples of %s were given up", evidence.epoch, evidence.peer)
            return math.inf if _SLOWER * self._pace * evidence.weight < _LONGEST_CASE else None
        if answer.deviation <= self._tolerance:
            self._pace = min(self._pace, answer.seconds / evidence.weight)
        return answer.deviation

    def _ask(self, job: Job) -> Answer | None:
        """None if it takes too long."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=core_environment()
            )
            _send(self._process, self._setup)
        _send(self._process, job)
        is_late = threading.Event()
        process = self._process

        def give_up() -> None:
            is_late.set()
            process.kill()

        limit = threading.Timer(_LONGEST_CASE, give_up)
        limit.start()
        try:
            # It is empty if the process is killed.
            line = _pipes(process)[1].readline()
        finally:
            limit.cancel()
        if is_late.is_set() and not line:
            self._end_process()
            return None
        return msgspec.json.decode(line, type=Answer)

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in _pipes(self._process):
                with suppress(OSError):
                    pipe.close()
            self._process = None


def _now_and_then(accused: frozenset[str]) -> str | None:
    """Seldom, because accusing costs nothing."""
    return random.choice(sorted(accused)) if accused and random.random() < _ASKED_FOR else None


def _send(process: subprocess.Popen[bytes], message: Setup | Job) -> None:
    wire = _pipes(process)[0]
    wire.write(msgspec.json.encode(message) + b"\n")
    wire.flush()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    return cast("tuple[IO[bytes], IO[bytes]]", (process.stdin, process.stdout))

"""A backbone or a trainer of a small run, in a process of its own, that ends with its stdin.

Usage: validated_peer.py FOLDER NAME LIE [SHARE]. NAME `backbone` validates the others, but not with a SHARE, and writes
its address to FOLDER/address; others train, with the gradients that the LIE makes of theirs, and validate each other in
that SHARE of their time. Prints a line of JSON for each thing that happens.
"""

import json
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import torch
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from transformers import PreTrainedModel

from core.api.errors import IdlehiveError
from core.api.project.manifest import Manifest
from core.client.installation import core_command
from core.host.auxiliary_peer import AuxiliaryPeer
from core.host.backbone import Backbone
from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.host.project import Host, Project, load
from core.host.recomputation import Setup
from core.host.validation import Validation
from core.host.web.published import PublishedRun
from core.learning.data import training_samples
from core.learning.model import build_model
from core.learning.order import Order
from core.learning.tasks import task_for
from core.learning.tasks.task import Task
from core.swarm.averaging.group import Update
from core.swarm.averaging.overlap.overlapping import OverlappingOptimizer
from core.swarm.build import make_optimizer
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.dht.addresses import peer_id_of
from core.swarm.dht.contributions import Publisher, Round
from core.swarm.dht.organiser import RunRecordPublisher
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.dht.work_records import WorkRecords
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.swarm.trust.validation import Evidence, tolerance_of
from core.system.priority import PROMPTLY
from core.trainer.microbatch import Microbatches
from core.trainer.peer_validation import SHARE, PeerValidation
from tests.end_to_end.machine import PRACTICE
from tests.waiting import wait_for

BATCH = 96
SMALL = {"num_hidden_layers": 1, "hidden_size": 64, "intermediate_size": 128}
DELAYED, DEVIATIONS = 12, 0.7
"""Microbatches by which a delayed gradient is old, and standard deviations by which a little is enough."""

Gradients = list[torch.Tensor]
Lie = Callable[[Gradients], Gradients]


def say(**what: Any) -> None:
    """From any thread: in one call, so that no two lines mix."""
    os.write(1, json.dumps(what).encode() + b"\n")


def described(project: Project, folder: Path) -> Manifest:
    """The practice project with a smaller model."""
    plain = project.manifest(folder, ())
    model = msgspec.structs.replace(plain.model, config={**plain.model.config, **SMALL})
    training = msgspec.structs.replace(plain.training, target_batch_size=BATCH)
    return msgspec.structs.replace(plain, model=model, training=training, run_id="validated")


def serve(folder: Path, *, validates: bool) -> None:
    project = load(PRACTICE / "project.toml")
    manifest = described(project, folder)
    dht = join_swarm([], folder / "backbone.key")
    curve, store = Curve(folder, manifest.run_id, 4 * BATCH), ContributionStore(folder, manifest.run_id)
    files = {file.sha256: file.path for file in project.files.values()}
    assert manifest.tokenizer is not None
    backbone = Backbone(
        dht=dht,
        manifest=manifest,
        settings=Host(),
        checkpoint_folder=folder / "checkpoints",
        curve=curve,
        published=PublishedRun({}, curve, store, folder / "checkpoints"),
        store=store,
        auxiliary=AuxiliaryPeer(dht, manifest, build_model(manifest), Host()),
        record=RunRecordPublisher(dht, manifest.run_id, folder / "backbone.key"),
    )
    shards = tuple(str(files[shard.sha256]) for shard in manifest.data.shards)
    validation = Validation(
        Setup(manifest, str(files[manifest.tokenizer.sha256]), shards),
        WorkRecords(dht, manifest.run_id),
        folder,
        core_command("core.host.recomputation", PROMPTLY),
    )
    if validates:
        backbone.validate_by(validation)
    note = validation.on_verdict

    def on_verdict(evidence: Evidence, deviation: float, is_good: bool) -> None:
        note(evidence, deviation, is_good)
        say(validated=evidence.peer, epoch=evidence.epoch, deviation=min(deviation, 1e9))

    validation.on_verdict = on_verdict
    for thread in (backbone.auxiliary, backbone.auditor):
        thread.start()
    write(folder / "address", own_addresses(dht)[0])
    said = 0
    while True:
        backbone.poll(time.time())
        dropped = [drop for drop in backbone.published.status.dropped if drop.reason == "gradient_wrong"]
        if len(dropped) > said:
            said = len(dropped)
            say(banned=[drop.peer for drop in dropped], epoch=backbone.auxiliary.epoch)
        say(credit={entry.name: entry.samples for entry in store.leaders()}, epoch=backbone.auxiliary.epoch)
        time.sleep(0.5)


def train(folder: Path, name: str, lie: Lie, share: float | None) -> None:
    project = load(PRACTICE / "project.toml")
    manifest = described(project, folder)
    wait_for((folder / "address").exists, 60.0, "the backbone's address")
    address = (folder / "address").read_text()
    dht = join_swarm([address], folder / f"{name}.key")
    monitor = BackboneMonitor(dht, [peer_id_of(address)], manifest.run_id)
    monitor.start()
    (folder / f"{name}.volunteer").write_bytes(Ed25519PrivateKey.generate().private_bytes_raw())
    publisher = Publisher(dht, manifest.run_id, folder / f"{name}.volunteer")
    model = build_model(manifest)
    model.train()

    def on_update(update: Update) -> None:
        partners = sorted(update.partners)
        say(epoch=update.epoch, samples=update.own_samples, group=update.group_size, partners=partners)
        if update.own_samples:
            publisher.publish(Round(update.epoch, update.own_samples, 1.0), 20.0, wanted=True, name=name)

    optimizer = make_optimizer(
        dht=dht,
        run_id=manifest.run_id,
        parameters=model.parameters(),
        training=manifest.training,
        averaging=manifest.averaging,
        backbone=monitor,
        on_update=on_update,
        kind=OverlappingOptimizer,
        overlap="always",
        on_drop=lambda drop: say(dropped=drop.peer, offence=drop.offence),
    )
    say(peer=str(dht.peer_id))
    order = order_of(project, manifest, model, dht.peer_id.to_bytes())
    microbatches = Microbatches(order, model, torch.device("cpu"))
    validation = PeerValidation(
        optimizer, model, order, tolerance=tolerance_of("float16"), share=SHARE if share is None else share
    )
    while not optimizer.is_banned:
        done = microbatches.compute(optimizer.local_epoch, 0)
        bring(model, lie)
        try:
            optimizer.step_with(done.piece)
        except IdlehiveError:
            with suppress(IdlehiveError):
                optimizer.follow()
        optimizer.zero_grad()
        validation.step()
    say(excluded=True)
    while True:
        time.sleep(1.0)


def order_of(project: Project, manifest: Manifest, model: PreTrainedModel, peer: bytes) -> Order:
    files = {file.sha256: file.path for file in project.files.values()}
    assert manifest.tokenizer is not None
    task: Task = task_for(manifest, model.config, files[manifest.tokenizer.sha256])
    samples = partial(training_samples, manifest.data, [files[shard.sha256] for shard in manifest.data.shards])
    return Order(task, samples, manifest.training.microbatch_size, manifest.run_id, peer)


def bring(model: torch.nn.Module, lie: Lie) -> None:
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    for gradient, false in zip(gradients, lie([gradient.clone() for gradient in gradients]), strict=True):
        gradient.copy_(false)


def lies() -> dict[str, Lie]:
    """What attackers send in place of their gradients; how they label is in `main`."""
    earlier: deque[Gradients] = deque(maxlen=DELAYED)

    def delayed(own: Gradients) -> Gradients:
        earlier.append(own)
        return earlier[0]

    def little(own: Gradients) -> Gradients:
        earlier.append(own)
        together = [torch.stack(each) for each in zip(*earlier, strict=True)]
        return [each.mean(0) - DEVIATIONS * each.std(0, correction=0) for each in together]

    return {
        "": lambda own: own,
        "labels": lambda own: own,
        "sign": lambda own: [-each for each in own],
        "delay": delayed,
        "little": little,
        "nothing": lambda own: [torch.zeros_like(each) for each in own],
    }


def flip_labels() -> None:
    from core.learning.tasks.masked_language_modelling import MaskedLanguageModellingTask as Task

    loss = Task.loss

    def flipped(self: Task, model: torch.nn.Module, batch: dict[str, torch.Tensor], epoch: int = 0) -> torch.Tensor:
        labels = batch["labels"]
        others = labels.where(labels < 0, self.masking.vocabulary - 1 - labels)
        return loss(self, model, {**batch, "labels": others}, epoch)

    Task.loss = flipped  # type: ignore[method-assign, assignment]


def write(path: Path, text: str) -> None:
    path.with_suffix(".part").write_text(text)
    path.with_suffix(".part").rename(path)


def end_with_stdin() -> None:
    # Not by sys.stdin: a forked process would wait for its lock.
    while os.read(0, 1):
        pass
    os._exit(0)


def main() -> None:
    folder, name, lie, *share = Path(sys.argv[1]), *sys.argv[2:]
    logging.basicConfig(level=logging.INFO)
    torch.set_num_threads(1)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    sockets = folder / f"s-{name}"
    sockets.mkdir()
    install(sockets, Link())
    if lie == "labels":
        flip_labels()
    if name == "backbone":
        serve(folder, validates=not share)
    else:
        train(folder, name, lies()[lie], float(share[0]) if share else None)


if __name__ == "__main__":
    main()

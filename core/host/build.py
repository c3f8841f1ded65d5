"""Builds a backbone, and closes its parts in the reverse order, also after errors."""

import argparse
import fcntl
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import torch
from hivemind import DHT
from transformers.modeling_utils import PreTrainedModel

from core.api.errors import WorldError, os_errors_as
from core.api.message import Message
from core.api.project.manifest import Manifest
from core.api.project.manifest_reading import parse
from core.host.auxiliary_peer import AuxiliaryPeer, limits_of
from core.host.backbone import Backbone
from core.host.companion import Companion
from core.host.contributions.audit import MOST_TOGETHER
from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.host.project import Project
from core.host.recomputation import Setup
from core.host.validation import Validation
from core.host.web.published import PublishedRun
from core.host.web.server import Web
from core.learning.data import held_out_samples
from core.learning.model import build_model
from core.learning.tasks import task_for
from core.learning.tasks.task import Evaluation
from core.swarm.connectivity.dial_back import serve_dial_backs
from core.swarm.dht.connection_limits import IN_ALL_AT_BACKBONE
from core.swarm.dht.organiser import RunRecordPublisher
from core.swarm.dht.peer import LOOPBACK, join_swarm, own_addresses
from core.swarm.dht.work_records import WorkRecords
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.swarm.traffic.wire_monitor import WireMonitor
from core.system.atomic_file import write_atomically
from core.system.forking.requests import ForkServer

log = logging.getLogger(__name__)
phases = logging.getLogger("core.host.start")


@contextmanager
def assemble(
    chosen: argparse.Namespace, project: Project, session_folder: Path, fork_server: ForkServer | None = None
) -> Iterator[tuple[Backbone, str]]:
    """A context with a serving backbone and the URL of its manifest. The fork server is for its companion.

    Raises:
        IdlehiveError: the project's model is wrong, a port is in use, a folder cannot be written.
    """
    state = (chosen.state or project.state()).expanduser().absolute()
    torch.set_num_threads(1)
    with ExitStack() as opened:
        opened.enter_context(_claimed(state))
        draft = project.manifest(state, ())
        link = Link()
        link.apply(limits_of(project.host))
        install(session_folder, link)
        model = build_model(draft)
        phases.info("start: model built")
        evaluate = _evaluation(project, draft, model)
        curve = Curve(state, draft.run_id, MOST_TOGETHER * draft.training.target_batch_size)
        store = ContributionStore(state, draft.run_id)
        published = PublishedRun(project.files, curve, store, state / "checkpoints")
        web = Web(published, chosen.http)
        opened.callback(web.close)
        dht = _join(chosen, project, state)
        phases.info("start: swarm joined")
        WireMonitor(link, dht).start()
        serve_dial_backs(dht)
        manifest = project.manifest(state, own_addresses(dht))
        url = f"{web.url.rstrip('/')}/manifest.json"
        backbone = Backbone(
            dht=dht,
            manifest=manifest,
            settings=project.host,
            checkpoint_folder=state / "checkpoints",
            curve=curve,
            published=published,
            store=store,
            # An embedded one is on a volunteer's computer, with a companion that peers can reach.
            auxiliary=AuxiliaryPeer(
                dht,
                manifest,
                model,
                project.host,
                evaluate=evaluate,
                averages=project.host.averaging and not chosen.embedded,
                line_bandwidth=link.bandwidth,
            ),
            record=RunRecordPublisher(dht, manifest.run_id, state / "identity.key"),
            companion=_companion(chosen, manifest, url, state, session_folder=session_folder, fork_server=fork_server),
        )
        opened.callback(backbone.close)
        if validation := _validation(chosen, project, backbone, session_folder):
            backbone.validate_by(validation)
        _remember_port(state, manifest)
        backbone.resume()
        backbone.auxiliary.start()
        backbone.auditor.start()
        published.manifest = manifest
        yield backbone, url


def _join(chosen: argparse.Namespace, project: Project, state: Path) -> DHT:
    """Join the other backbones; start alone if none answers, because peers then need this one."""
    others, here = project.host.extra_peers, (state / "identity.key", _listen(chosen, state), chosen.announce or ())
    try:
        return join_swarm(others, *here, most_connected=IN_ALL_AT_BACKBONE)
    except WorldError as error:
        if not others:
            raise
        log.warning("%s", Message("host_starts_alone", {"problem": error.message}))
    return join_swarm((), *here, most_connected=IN_ALL_AT_BACKBONE)


@contextmanager
def _claimed(state: Path) -> Iterator[None]:
    """Create the folder and lock it: two backbones with the same identity would harm the run."""
    with os_errors_as("state_folder_unusable", path=str(state)):
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (state / "lock").open("w")
    with lock:
        try:
            # Forked processes do not inherit this kind of lock, so it ends with this process.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WorldError("state_folder_in_use", path=str(state)) from None
        yield


def _evaluation(project: Project, manifest: Manifest, model: PreTrainedModel) -> Callable[[], Evaluation] | None:
    tokenizer = project.path_of(manifest.tokenizer) if manifest.tokenizer else None
    task = task_for(manifest, model.config, tokenizer)
    samples = held_out_samples(manifest.data, project.path_of)
    if samples is None:
        return None
    next(task.batches(samples(), 1, seed=0), None)  # data that do not fit are refused before anybody joins
    return lambda: task.evaluate(model, samples())


def _validation(
    chosen: argparse.Namespace, project: Project, backbone: Backbone, session_folder: Path
) -> Validation | None:
    """None where nothing is to be validated, or the data are not here."""
    manifest, files = backbone.manifest, {own.sha256: own.path for own in project.files.values()}
    shards = tuple(str(files[shard.sha256]) for shard in manifest.data.shards if shard.sha256 in files)
    if chosen.embedded or not (project.host.validation and project.host.averaging):
        return None
    if len(shards) < len(manifest.data.shards):
        log.warning("%s", Message("host_validates_nobody"))
        return None
    tokenizer = project.path_of(manifest.tokenizer) if manifest.tokenizer else None
    setup = Setup(manifest, str(tokenizer) if tokenizer else None, shards)
    return Validation(setup, WorkRecords(backbone.dht, manifest.run_id), session_folder)


def _companion(
    chosen: argparse.Namespace,
    manifest: Manifest,
    url: str,
    state: Path,
    *,
    session_folder: Path,
    fork_server: ForkServer | None,
) -> Companion | None:
    if not chosen.companion:
        return None
    own = parse(msgspec.json.encode(manifest), url)
    return Companion(own, state, session_folder / "companion", fork_server=fork_server)


def _listen(chosen: argparse.Namespace, state: Path) -> list[str]:
    """The chosen address; else loopback with the same port as last time, because volunteers have stored it."""
    if chosen.listen:
        return str(chosen.listen).split(",")
    try:
        port = int((state / "port").read_text())
    except (FileNotFoundError, ValueError):
        return [LOOPBACK]
    return [LOOPBACK.replace("/tcp/0", f"/tcp/{port}")]


def _remember_port(state: Path, manifest: Manifest) -> None:
    address = manifest.initial_peers[0]
    write_atomically(state / "port", address.partition("/tcp/")[2].partition("/")[0].encode())

"""A project's description: data, never code.

Everything a peer needs to take part in a run is here by name and number; nothing in it is executed. `docs/manifest.md`
explains the fields, `python -m tests.manifest_schema` makes `docs/manifest.schema.json` of these classes.
`core.api.project.manifest_reading` reads and checks one.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from core.api.project.data import Data, Portion
from core.api.project.fields import (
    Architecture,
    Count,
    Decay,
    Epochs,
    File,
    Fraction,
    Id,
    LongText,
    Positive,
    Rate,
    RunId,
    Seconds,
    Text,
    Url,
)
from core.api.project.tasks import Task


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A transformers model class by name, with its configuration; remote code is never loaded."""

    architecture: Architecture
    config: dict[str, Any] = {}
    """Arguments of the class's configuration: plain JSON, and no key that loads code or files."""


class Optimizer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An optimizer by name, with the hyper-parameters of its paper."""

    type: Literal["lamb", "adamw", "sgd"]
    """LAMB (You et al. 2020), AdamW (Loshchilov and Hutter 2019) or SGD with momentum."""
    learning_rate: Rate
    """The largest, after warm-up."""
    weight_decay: Fraction = 0.0
    """Pull of the parameters towards zero, applied as in each optimizer's paper."""
    betas: tuple[Decay, Decay] = (0.9, 0.999)
    """Of lamb and adamw."""
    epsilon: Annotated[float, Meta(gt=0, le=1)] = 1e-6
    """Of lamb and adamw: added to the denominator."""
    momentum: Decay = 0.9
    """Of sgd."""
    trust: Annotated[float, Meta(gt=0, le=1)] | None = None
    """Of sgd: trust coefficient of LARC (You et al. 2017), which scales a tensor's step by its norm; None: no LARC."""
    gradient_norm: Annotated[float, Meta(gt=0)] | None = None
    """Averaged gradients are clipped to this norm before the step; None does not clip."""


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Learning rate by epoch: linear warm-up, then decay or constant."""

    type: Literal["linear", "cosine", "constant"] = "constant"
    """What follows the warm-up: decay along a line or half a cosine until total_epochs, or no change."""
    begin: Fraction = 0.0
    """Share of the learning rate with which the warm-up begins."""
    end: Fraction = 0.0
    """Share of the learning rate that is left at total_epochs, of linear and cosine."""
    warmup_epochs: Epochs = 0
    """Epochs until the learning rate has grown to its largest."""
    total_epochs: Positive = 1_000_000
    """Epoch at which the decay ends."""


class Training(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    target_batch_size: Positive
    """Samples that all peers accumulate together before one optimizer step: one epoch."""
    microbatch_size: Positive
    """Samples in one forward and backward pass of one peer."""
    optimizer: Optimizer
    schedule: Schedule = Schedule()
    seed: Count = 0
    """Of the initial parameters: every peer that starts a run fresh starts the same model."""
    precision: Literal["float32", "mixed"] = "float32"
    """Of matrix products: float32, or half the bits where a peer's device is faster with them."""
    gradient_checkpointing: bool = False
    """Whether all compute layers again in the backward pass; otherwise only a peer with too little memory does."""


class Averaging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How peers average (hivemind's words)."""

    compression: Literal["none", "float16", "uniform8bit"] = "float16"
    """Of gradients and parameters on the wire."""
    matchmaking_time: Seconds = 15.0
    """Most seconds that a group waits for its members: it begins as soon as all that are expected have joined."""
    averaging_timeout: Seconds = 60.0
    """Seconds after which a group's round has failed."""
    target_group_size: Annotated[int, Meta(ge=2, le=1024)] = 16
    """Most peers in one group."""
    average_state_every: Positive = 1
    """Epochs between two averagings of the parameters themselves."""
    reducer: Literal["mean", "centered_clip"] = "centered_clip"
    """What becomes of the members' vectors: their mean, or CenteredClip, which a minority cannot move far."""
    overlap: Literal["auto", "always", "never"] = "auto"
    """Whether a peer computes the next batch while a round runs; `auto`: where rounds take over a tenth of its time."""


class Requirements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a volunteer's machine must have; 0 asks for nothing."""

    memory: Count = 0
    """Bytes of main memory."""
    gpu_memory: Count = 0
    """Bytes of video memory."""
    disk: Count = 0
    """Bytes of free disk space."""
    upload: Count = 0
    """Bytes per second below which averaging would time out."""
    download: Count = 0
    """Bytes per second likewise."""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole description of one project."""

    format: Literal[1]
    """Of this description; a later format asks the volunteer to update."""
    id: Id
    """Short name of the project: 1 to 64 lower-case letters, digits and hyphens."""
    name: Text
    """As people see it."""
    summary: LongText
    """What is trained and what for, in a few sentences of plain text."""
    organiser: Text
    """Who is responsible."""
    license: Text
    """Under which the result is published."""
    run_id: RunId
    """Names the training; peers meet under it: 1 to 64 letters, digits, hyphens and underscores."""
    model: Model
    tokenizer: File | None = None
    """A tokenizer.json; tasks on text need one."""
    task: Task
    """What is learned, by its type."""
    data: Data
    """What is learned from, by its type: text if there is none."""
    training: Training
    initial_peers: Annotated[tuple[str, ...], Meta(max_length=64)]
    """Multiaddresses with peer id of the organiser's backbone."""
    averaging: Averaging = Averaging()
    requirements: Requirements = Requirements()
    homepage: Url | None = None
    """Page about the project."""
    picture: File | None = None
    """PNG or JPEG to show beside the name."""
    curve: Url | None = None
    """Where the backbone serves the learning curve as JSON."""
    leaderboard: Url | None = None
    """Where the backbone serves who gave how much, as JSON."""
    demonstration: Url | None = None
    """Where the backbone serves what the model can do by now, as JSON."""
    closed: bool = False
    """The organiser has ended the run."""

    def needed_files(self, portion: Portion) -> tuple[File, ...]:
        """What a trainer needs to learn from a portion of the data."""
        return (*((self.tokenizer,) if self.tokenizer else ()), *(self.data.shards[number] for number in portion))

    @property
    def download_size(self) -> int:
        """Bytes until a trainer can begin, at most."""
        return max(sum(file.size for file in self.needed_files(portion)) for portion in self.data.portions)

    @property
    def hourly_download(self) -> int:
        """Bytes of later portions in an hour, at most; 0 if all data are one portion."""
        shards, portions = self.data.shards, self.data.portions
        return max(sum(shards[number].size for number in portion) for portion in portions) if len(portions) > 1 else 0

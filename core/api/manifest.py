"""A project's description: data, never code.

Everything a peer needs to take part in a run is here by name and number; nothing in it is executed. `docs/manifest.md`
explains the fields, `docs/manifest.schema.json` is made from these classes by `python -m core.api.manifest`.
"""

from typing import Annotated, Any, Literal
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import Meta

from core.api.errors import ManifestError

Id = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,63}\Z", description="lower-case letters, digits and hyphens")]
RunId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z", description="names the training; peers meet under it")]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z", description="hexadecimal SHA-256 of the file")]
Text = Annotated[str, Meta(min_length=1, max_length=200)]
LongText = Annotated[str, Meta(max_length=4000)]
Url = Annotated[str, Meta(min_length=1, max_length=2000, description="http or https, or relative to the manifest's own")]
Positive = Annotated[int, Meta(ge=1, le=1 << 53)]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Rate = Annotated[float, Meta(gt=0, le=1000)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
Epochs = Annotated[int, Meta(ge=0, le=100_000_000)]


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file to fetch over HTTP and to verify before use."""

    url: Url
    sha256: Sha256
    size: Annotated[int, Meta(ge=1, le=1 << 40, description="bytes")]


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A transformers model class by name, with its configuration; remote code is never loaded."""

    architecture: Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9]{2,80}\Z")]
    config: dict[str, Any] = {}


class MaskedLanguageModelling(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="masked_language_modelling", tag_field="type"
):
    """Guess the hidden pieces of a text (Devlin et al. 2018): 80 % masked, 10 % random, 10 % kept."""

    sequence_length: Annotated[int, Meta(ge=8, le=4096, description="pieces")]
    mask_probability: Annotated[float, Meta(gt=0, lt=1)] = 0.15


Task = MaskedLanguageModelling
"""A union once there is a second task."""


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """UTF-8 text shards to learn from, and one that is only evaluated on."""

    shards: Annotated[tuple[File, ...], Meta(min_length=1, max_length=100_000)]
    held_out: File | None = None


class Optimizer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An optimizer by name, with the hyper-parameters of its paper."""

    type: Literal["lamb", "adamw", "sgd"]
    learning_rate: Rate
    weight_decay: Fraction = 0.0
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    """Of lamb and adamw."""
    epsilon: Annotated[float, Meta(gt=0, le=1)] = 1e-6
    momentum: Fraction = 0.9
    """Of sgd."""
    gradient_norm: Annotated[float, Meta(gt=0)] | None = None
    """Averaged gradients are clipped to this norm before the step; None does not clip."""


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Learning rate by epoch: linear warm-up, then linear decay or constant."""

    type: Literal["linear", "constant"] = "constant"
    warmup_epochs: Epochs = 0
    total_epochs: Positive = 1_000_000


class Training(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    target_batch_size: Positive
    """Samples that all peers accumulate together before one optimizer step: one epoch."""
    microbatch_size: Positive
    """Samples in one forward and backward pass of one peer."""
    optimizer: Optimizer
    schedule: Schedule = Schedule()
    seed: Count = 0
    """Of the initial parameters: every peer that starts a run fresh starts the same model."""


class Averaging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How peers average (hivemind's words)."""

    compression: Literal["none", "float16", "uniform8bit", "blockwise8bit"] = "float16"
    matchmaking_time: Seconds = 15.0
    averaging_timeout: Seconds = 60.0
    target_group_size: Annotated[int, Meta(ge=2, le=1024)] = 16
    average_state_every: Positive = 1
    """Epochs between two averagings of the parameters themselves."""


class Requirements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a volunteer's machine must have; 0 asks for nothing."""

    memory: Count = 0
    gpu_memory: Count = 0
    disk: Count = 0
    upload: Count = 0
    """Bytes per second below which averaging would time out."""
    download: Count = 0


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole description of one project."""

    format: Literal[1]
    id: Id
    name: Text
    summary: LongText
    organiser: Text
    license: Text
    """Under which the result is published."""
    run_id: RunId
    model: Model
    tokenizer: File
    task: Task
    data: Data
    training: Training
    initial_peers: Annotated[tuple[str, ...], Meta(max_length=64)]
    """Multiaddresses with peer id of the organiser's backbone."""
    averaging: Averaging = Averaging()
    requirements: Requirements = Requirements()
    homepage: Url | None = None
    picture: File | None = None
    curve: Url | None = None
    """Where the backbone serves the learning curve as JSON."""
    closed: bool = False
    """The organiser has ended the run."""


def parse(text: bytes, base_url: str | None = None) -> Manifest:
    """A manifest from JSON; relative URLs become absolute against `base_url`, the place it was read from.

    Raises:
        ManifestError: names the first wrong field.
    """
    raise ManifestError("not written yet")

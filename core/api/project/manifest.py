"""A project's description: data, never code.

Everything a peer needs to take part in a run is here by name and number; nothing in it is executed. `docs/manifest.md`
explains the fields, `python -m tests.manifest_schema` makes `docs/manifest.schema.json` of these classes.
`core.api.project.manifest_reading` reads and checks one.
"""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from core.api.message import Message

Id = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,63}\Z", description="1 to 64 lower-case letters, digits and hyphens")
]
RunId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z", description="1 to 64 letters, digits, hyphens and underscores")
]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z", description="a SHA-256 as 64 lower-case hexadecimal digits")]
Architecture = Annotated[
    str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9]{2,80}\Z", description="the name of a transformers model class")
]
Text = Annotated[str, Meta(min_length=1, max_length=200)]
LongText = Annotated[str, Meta(max_length=4000)]
Url = Annotated[
    str, Meta(min_length=1, max_length=2000, description="http or https, or relative to the manifest's own")
]
Positive = Annotated[int, Meta(ge=1, le=1 << 53)]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Rate = Annotated[float, Meta(gt=0, le=1000)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
Decay = Annotated[float, Meta(ge=0, lt=1, description="share of a running mean that is kept at each step")]
Epochs = Annotated[int, Meta(ge=0, le=100_000_000)]


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file to fetch over HTTP and to verify before use."""

    url: Url
    sha256: Sha256
    size: Annotated[int, Meta(ge=1, le=1 << 40, description="bytes of the file")]


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A transformers model class by name, with its configuration; remote code is never loaded."""

    architecture: Architecture
    config: dict[str, Any] = {}
    """Arguments of the class's configuration: plain JSON, and no key that loads code or files."""


class TextTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """What every task on text needs of a manifest."""

    is_reproducible: ClassVar[bool] = True
    """Whether the gradients of a microbatch follow from its samples and the parameters alone."""
    sequence_length: Annotated[int, Meta(ge=8, le=4096, description="tokens in one sample")]

    def mismatches(self, manifest: "Manifest") -> Iterator[tuple[str, Message]]:
        """(field, problem) of what the rest of the manifest lacks for this task."""
        if manifest.tokenizer is None:
            yield "$.tokenizer", Message("field_missing")
        if not manifest.data.is_text:
            yield "$.data.type", Message("data_of_another_kind")
        for name in ("max_position_embeddings", "n_positions"):
            positions = manifest.model.config.get(name)
            if isinstance(positions, int) and positions < self.sequence_length:
                yield "$.task.sequence_length", Message("sequence_too_long", {"most": positions})


class MaskedLanguageModelling(TextTask, frozen=True, tag="masked_language_modelling"):
    """Predict masked tokens (Devlin et al. 2018): of those to predict, 80 % are masked, 10 % random, 10 % unchanged."""

    mask_probability: Annotated[float, Meta(gt=0, lt=1)] = 0.15
    """Share of the tokens to predict."""


class SentenceOrderPrediction(TextTask, frozen=True, tag="sentence_order_prediction"):
    """ALBERT's objective (Lan et al. 2020): masked tokens, and whether two segments of a text are in their order."""

    mask_probability: Annotated[float, Meta(gt=0, lt=1)] = 0.15
    """Share of the tokens to predict."""


class CausalLanguageModelling(TextTask, frozen=True, tag="causal_language_modelling"):
    """Predict each token from those before it (Radford et al. 2019)."""

    separator: Text | None = None
    """Token of the tokenizer that ends each text, such as <|endoftext|>; None: texts follow each other directly."""


Share = Annotated[float, Meta(gt=0, le=1)]
Crop = Annotated[int, Meta(ge=8, le=512, description="pixels of each side of a view")]


class Swav(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="swav"):
    """Views of one picture are assigned to the same prototypes, without labels (SwAV; Caron et al. 2020)."""

    large_crop: Crop = 224
    """Of the two large views, which are also assigned."""
    small_crop: Crop = 96
    """Of the small views."""
    small_crops: Annotated[int, Meta(ge=0, le=16)] = 6
    """Small views of one picture."""
    large_share: tuple[Share, Share] = (0.14, 1.0)
    """Least and most of the picture's area in a large view."""
    small_share: tuple[Share, Share] = (0.05, 0.14)
    """Likewise, in a small view."""
    temperature: Annotated[float, Meta(gt=0, le=10)] = 0.1
    """Of the softmax over the prototypes."""
    epsilon: Annotated[float, Meta(ge=0.01, le=1)] = 0.05
    """Entropy regularisation of the assignment by Sinkhorn and Knopp: the larger, the more even."""
    iterations: Annotated[int, Meta(ge=1, le=20)] = 3
    """Of Sinkhorn and Knopp."""
    queue_length: Annotated[int, Meta(ge=0, le=1 << 16)] = 0
    """Earlier samples of the same peer that are assigned together with a microbatch; 0: none."""
    queue_from_epoch: Epochs = 0
    """The first epoch that uses the queue: early features say little."""
    freeze_prototypes: Epochs = 0
    """Epochs at the beginning in which the prototypes do not change."""

    @property
    def is_reproducible(self) -> bool:
        """A queue has samples of earlier microbatches."""
        return self.queue_length == 0

    def mismatches(self, manifest: "Manifest") -> Iterator[tuple[str, Message]]:
        """(field, problem) of what does not fit this task."""
        if manifest.data.is_text:
            yield "$.data.type", Message("data_of_another_kind")
        if self.small_crop > self.large_crop:
            yield "$.task.small_crop", Message("crop_too_large", {"most": self.large_crop})
        for name in ("large_share", "small_share"):
            least, most = getattr(self, name)
            if least > most:
                yield f"$.task.{name}", Message("shares_in_wrong_order")


Task = MaskedLanguageModelling | SentenceOrderPrediction | CausalLanguageModelling | Swav
"""By `type`. How each learns is in `core.learning.tasks`."""


class Shards(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """What every kind of data has: files to learn from, and one that is only evaluated on."""

    is_text: ClassVar[bool] = True
    """Whether the samples are texts."""
    shards: Annotated[tuple[File, ...], Meta(min_length=1, max_length=100_000)]
    """Files to learn from; every peer reads them in an order of its own."""
    held_out: File | None = None
    """Never learned from; the backbone evaluates on it."""


class TextData(Shards, frozen=True, tag="text"):
    """UTF-8 text, in lines."""

    block: Annotated[int, Meta(ge=256, le=1 << 20)] = 2048
    """Bytes of a text: it has the whole lines of about so many."""


class JsonLinesData(Shards, frozen=True, tag="json_lines"):
    """One JSON object a line, as many text collections are published; each line is a text."""

    field: Text = "text"
    """Of the object, that holds the text."""


class ImageTarData(Shards, frozen=True, tag="image_tar"):
    """Pictures in tar files (WebDataset): PNG, JPEG or WebP, with a label in a `.cls` file of the same name if any."""

    is_text: ClassVar[bool] = False


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A collection of a mixture."""

    weight: Annotated[float, Meta(gt=0, le=1e6)]
    """Its share of the texts is this number divided by the sum of all."""
    data: TextData | JsonLinesData
    """By its type."""


class Mixture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="mixture"):
    """Several collections at once: each next text is from one of them, chosen at random by weight."""

    is_text: ClassVar[bool] = True
    parts: Annotated[tuple[Part, ...], Meta(min_length=1, max_length=64)]
    """The collections."""

    @property
    def shards(self) -> tuple[File, ...]:
        """Of all parts, in their order."""
        return tuple(shard for part in self.parts for shard in part.data.shards)


Data = TextData | JsonLinesData | ImageTarData | Mixture
"""By `type`, `text` if it is missing. How each is read is in `core.learning.data`."""


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


class Averaging(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How peers average (hivemind's words)."""

    compression: Literal["none", "float16", "uniform8bit", "blockwise8bit"] = "float16"
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
    closed: bool = False
    """The organiser has ended the run."""

    def needed_files(self) -> tuple[File, ...]:
        """What every trainer fetches."""
        return (*((self.tokenizer,) if self.tokenizer else ()), *self.data.shards)

"""The tasks of a manifest: what each declares, and what it needs of the rest."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from core.api.message import Message
from core.api.project.data import Data
from core.api.project.fields import Epochs, File, Text


class TextTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """What every task on text needs of a manifest."""

    is_reproducible: ClassVar[bool] = True
    """Whether the gradients of a microbatch follow from its samples and the parameters alone."""
    sequence_length: Annotated[int, Meta(ge=8, le=4096, description="tokens in one sample")]

    def mismatches(self, data: Data, tokenizer: File | None, config: dict[str, Any]) -> Iterator[tuple[str, Message]]:
        """(field, problem) of what the rest of the manifest lacks for this task; `config` is the model's."""
        if tokenizer is None:
            yield "$.tokenizer", Message("field_missing")
        if data.samples != "texts":
            yield "$.data.type", Message("data_of_another_kind")
        for name in ("max_position_embeddings", "n_positions"):
            positions = config.get(name)
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
    document_boundaries: bool = False
    """Whether each text is learned by itself: tokens of a sample neither see nor predict those of another text."""

    def mismatches(self, data: Data, tokenizer: File | None, config: dict[str, Any]) -> Iterator[tuple[str, Message]]:
        """Also: without a separator, a text of one token would have nothing to predict."""
        yield from super().mismatches(data, tokenizer, config)
        if self.document_boundaries and self.separator is None:
            yield "$.task.separator", Message("field_missing")


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

    def mismatches(self, data: Data, _tokenizer: File | None, _config: dict[str, Any]) -> Iterator[tuple[str, Message]]:
        """(field, problem) of what does not fit this task."""
        if data.samples != "pictures":
            yield "$.data.type", Message("data_of_another_kind")
        if self.small_crop > self.large_crop:
            yield "$.task.small_crop", Message("crop_too_large", {"most": self.large_crop})
        for name in ("large_share", "small_share"):
            least, most = getattr(self, name)
            if least > most:
                yield f"$.task.{name}", Message("shares_in_wrong_order")


_MOST_CODES = 64
"""Of each side of a picture: attention takes memory and time by the square of all its codes."""


class TextToImage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="text_to_image"):
    """Predict the words of a caption, and then the codes of its picture, each from those before it (DALL-E; Ramesh et
    al. 2021)."""

    is_reproducible: ClassVar[bool] = True
    caption_length: Annotated[int, Meta(ge=4, le=1024, description="tokens of a caption")]
    """Longer captions are cut, shorter ones are padded."""
    image_size: Annotated[int, Meta(ge=8, le=1024, description="pixels of each side of a picture")]
    """Of the pictures that the codes stand for."""
    patch: Annotated[int, Meta(ge=1, le=64, description="pixels of each side of a patch")]
    """The square of a picture that a code stands for."""
    codebook: Annotated[bytes, Meta(max_length=256 << 10)] | None = None
    """PNG in Base64: what each code looks like, one square below the other, at most as large as a patch. The backbone
    draws with it."""

    @property
    def codes(self) -> int:
        """Of a picture."""
        return (self.image_size // self.patch) ** 2

    def mismatches(self, data: Data, tokenizer: File | None, config: dict[str, Any]) -> Iterator[tuple[str, Message]]:
        """(field, problem) of what does not fit this task."""
        if tokenizer is None:
            yield "$.tokenizer", Message("field_missing")
        if data.samples != "captioned_codes":
            yield "$.data.type", Message("data_of_another_kind")
        padding = config.get("pad_token_id")
        if not isinstance(padding, int) or padding < 0:
            yield "$.model.config.pad_token_id", Message("value_invalid", {"detail": "Expected int >= 0"})
        codes = config.get("image_vocab_size")
        if not isinstance(codes, int):
            yield "$.model.config.image_vocab_size", Message("field_missing")
        elif self.image_size % self.patch:
            yield "$.task.image_size", Message("not_a_multiple", {"of": self.patch})
        elif self.image_size > _MOST_CODES * self.patch:
            yield "$.task.image_size", Message("number_too_large", {"most": _MOST_CODES * self.patch})
        elif self.codebook is not None and not _fits(self.codebook, codes, self.patch):
            yield "$.task.codebook", Message("codebook_of_another_size", {"codes": codes, "patch": self.patch})


def _fits(codebook: bytes, codes: int, patch: int) -> bool:
    """Whether the head of a PNG says that it has so many squares below each other."""
    width, height = (int.from_bytes(codebook[begin : begin + 4], "big") for begin in (16, 20))
    return codebook[:8] == b"\x89PNG\r\n\x1a\n" and 1 <= width <= patch and height == codes * width


Task = MaskedLanguageModelling | SentenceOrderPrediction | CausalLanguageModelling | Swav | TextToImage
"""By `type`. How each learns is in `core.learning.tasks`."""

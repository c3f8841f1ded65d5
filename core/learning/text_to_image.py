"""The network of a text-to-image run (DALL-E, Ramesh et al. 2021), as "Training Transformers Together" (NeurIPS 2021)
has it: one transformer over a caption and then the codes of its picture, whose layers share their parameters in turn.

The layers are those of Llama in `transformers`, so gradients can be checkpointed as with any of its models. Positions
are rotary (Su et al. 2021), in three parts of each head: the place in the caption, the row and the column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from huggingface_hub.dataclasses import strict
from torch import nn
from torch.nn.functional import cross_entropy
from transformers.cache_utils import Cache, DynamicCache
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaPreTrainedModel, LlamaRMSNorm

_ROTARY_BASE = 10_000.0
_NEIGHBOURHOOD = 2
"""Codes to each side that local attention sees."""
_SEEN: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "row": lambda rows, _columns: rows == 0,
    "column": lambda _rows, columns: columns == 0,
    "local": lambda rows, columns: (rows.abs() <= _NEIGHBOURHOOD) & (columns.abs() <= _NEIGHBOURHOOD),
}
"""Which earlier codes a code sees, by the differences of rows and columns; `full` sees all. All see the caption."""


@strict
class TextToImageConfig(LlamaConfig):  # type: ignore[no-untyped-call]  # transformers' classes have no types
    """Sizes of Llama's layers; `vocab_size` is that of captions."""

    model_type = "text_to_image"

    image_vocab_size: int = 8192
    image_weight: float = 7.0
    """Of the loss of a code; that of a caption's token has weight 1."""
    num_hidden_groups: int = 4
    """Layers with parameters of their own, which take turns."""
    attention: Sequence[str] = ("row", "column", "row", "row")
    """What the layers attend to, in turn: `full`, or one of `_SEEN`."""
    last_attention: str | None = None
    """Of a last layer that shares nothing; None: there is none."""


@dataclass(frozen=True)
class TextToImageOutput:
    loss: torch.Tensor
    image_loss: torch.Tensor
    """Mean cross entropy of a code."""
    image_logits: torch.Tensor
    """(pictures, codes of each, `image_vocab_size`)."""


class TextToImageTransformer(LlamaPreTrainedModel):  # type: ignore[no-untyped-call]  # likewise
    """Predicts captions, and pictures from captions."""

    config_class = TextToImageConfig

    def __init__(self, config: TextToImageConfig) -> None:
        super().__init__(config)
        # The task asks for the one, and Llama's configuration computes the other.
        self._padding, self._head = cast("int", config.pad_token_id), cast("int", config.head_dim)
        if wrong := {*config.attention, config.last_attention or "full"} - {"full", *_SEEN}:
            raise ValueError(f"there is no attention named {min(wrong)!r}")
        own = config.last_attention is not None
        self.layers = nn.ModuleList(LlamaDecoderLayer(config, 0) for _ in range(config.num_hidden_groups + own))
        shared = range(config.num_hidden_layers - own)
        self._plan = [
            (depth % config.num_hidden_groups, config.attention[depth % len(config.attention)]) for depth in shared
        ]
        if config.last_attention is not None:
            self._plan.append((config.num_hidden_groups, config.last_attention))
        self.start = nn.Parameter(torch.empty(config.hidden_size).normal_(std=config.initializer_range))
        # Also what states are compared with in the end, as in the published run.
        self.text_embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.image_embedding = nn.Embedding(config.image_vocab_size, config.hidden_size)
        self.norm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_init()  # type: ignore[no-untyped-call]  # likewise

    def forward(self, captions: torch.Tensor, codes: torch.Tensor) -> TextToImageOutput:
        """Of captions (pictures, tokens) and codes (pictures, codes of each), which are those of a square."""
        length = captions.shape[1]
        inputs = torch.cat((self._begin(captions), self.image_embedding(codes[:, :-1])), 1)
        states = self._states(inputs, _Places.of(length, codes.shape[1], inputs.device))
        text_logits = states[:, :length] @ self.text_embedding.weight.T
        image_logits = states[:, length:] @ self.image_embedding.weight.T
        text_loss = cross_entropy(text_logits.flatten(0, 1), captions.flatten(), ignore_index=self._padding)
        image_loss = cross_entropy(image_logits.flatten(0, 1), codes.flatten())
        weight = self.config.image_weight
        return TextToImageOutput((text_loss + weight * image_loss) / (1 + weight), image_loss, image_logits)

    @torch.no_grad()
    def draw(self, captions: torch.Tensor, count: int, choose: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        """Codes (pictures, count) for captions (pictures, tokens). `choose` takes the logits (pictures,
        `image_vocab_size`) of the next code, and gives one for each picture."""
        places = _Places.of(captions.shape[1], count, captions.device)
        inputs, cache, codes = self._begin(captions), DynamicCache(), list[torch.Tensor]()
        for _ in range(count):
            states = self._states(inputs, places, cache)
            codes.append(choose(states[:, -1] @ self.image_embedding.weight.T))
            inputs = self.image_embedding(codes[-1])[:, None]
        return torch.stack(codes, 1)

    def _begin(self, captions: torch.Tensor) -> torch.Tensor:
        start = self.start.expand(len(captions), 1, -1)
        return torch.cat((start, self.text_embedding(captions)), 1)

    def _states(self, inputs: torch.Tensor, places: "_Places", cache: Cache | None = None) -> torch.Tensor:
        """What the layers make of inputs that follow those in the cache."""
        begin = cache.get_seq_length() if cache is not None else 0
        end = begin + inputs.shape[1]
        positions = places.rotations(self._head, begin, end, inputs.dtype)
        masks = {kind: places.mask(kind, begin, end) for _, kind in self._plan}
        states = inputs
        for depth, (group, kind) in enumerate(self._plan):
            layer: Any = self.layers[group]
            # The place of its keys in the cache: it is at several depths.
            layer.self_attn.layer_idx = depth
            states = layer(states, attention_mask=masks[kind], position_embeddings=positions, past_key_values=cache)
        return cast("torch.Tensor", self.norm(states))


@dataclass(frozen=True)
class _Places:
    """Where each input is: the start and the caption in a line, then codes in rows and columns."""

    length: int
    """Of the caption."""
    text: torch.Tensor
    row: torch.Tensor
    column: torch.Tensor
    """Both of 16 bits: masks are made of the differences between all."""

    @classmethod
    def of(cls, length: int, codes: int, device: torch.device) -> "_Places":
        side = round(codes**0.5)
        if side * side != codes:
            raise ValueError(f"{codes} codes are not those of a square")
        number = torch.arange(length + codes, device=device)
        code = number - length - 1
        is_code = code >= 0
        return cls(
            length,
            number.clamp(max=length + 1),
            torch.where(is_code, code // side, -1).to(torch.int16),
            torch.where(is_code, code % side, -1).to(torch.int16),
        )

    def rotations(self, head: int, begin: int, end: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines (1, inputs, head) of the angles by which each is turned."""
        pairs = head // 2
        sizes = (pairs - 2 * (pairs // 3), pairs // 3, pairs // 3)
        angles = torch.cat(
            [
                place[begin:end, None] / _ROTARY_BASE ** (torch.arange(size, device=place.device) / size)
                for place, size in zip((self.text, self.row, self.column), sizes, strict=True)
            ],
            -1,
        )
        both = torch.cat((angles, angles), -1)[None]
        return both.cos().to(dtype), both.sin().to(dtype)

    def mask(self, kind: str, begin: int, end: int) -> torch.Tensor | None:
        """(1, 1, inputs, all so far), true where attention is allowed; None: to all so far."""
        if kind == "full":
            return None
        rows = self.row[begin:end, None] - self.row[:end]
        columns = self.column[begin:end, None] - self.column[:end]
        number = torch.arange(end, device=self.row.device)
        seen = _SEEN[kind](rows, columns) | (number <= self.length)
        return (seen & (number <= number[begin:, None]))[None, None]

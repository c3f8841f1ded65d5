"""Text to image (DALL-E; Ramesh et al. 2021): predict the tokens of a caption, then the codes of its picture.

The codes are those of a vector-quantised model that is not trained with it. The organiser computed them, so nobody else
needs that model.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import torch
from tokenizers import Tokenizer
from transformers.configuration_utils import PretrainedConfig

from core.api.errors import ManifestError
from core.api.project import tasks as declared
from core.api.project.manifest import Manifest
from core.api.project.projects import Figure
from core.learning.data.captioned_codes import CaptionedCodes
from core.learning.tasks import text
from core.learning.tasks.demonstrations import drawn
from core.learning.tasks.task import Batch, Evaluation, ModelLoss

_EVALUATION_BATCH = 16
_EVALUATION_SAMPLES, _EVALUATION_TOKENS = 256, 1 << 15
"""At most: a sample of the published run costs as much as a thousand of the small one."""
_MOST_UNFIT = 10_000
"""Samples one after the other that do not fit; those of such data would be waited for without end."""


@dataclass(frozen=True)
class TextToImageTask(ModelLoss):
    """Captions are cut or padded to `caption_length` tokens."""

    architectures: ClassVar[Mapping[str, str]] = {"TextToImageTransformer": "core.learning.text_to_image"}
    least_samples: ClassVar[int] = 1

    settings: declared.TextToImage
    tokenizer: Tokenizer
    padding: int
    kinds: int
    """Codes of the codebook."""

    @classmethod
    def example(cls, task: declared.TextToImage, config: PretrainedConfig) -> Batch:
        # Padding alone would have no loss.
        captions = torch.full((1, task.caption_length), int(config.pad_token_id == 0))
        return {"captions": captions, "codes": torch.zeros((1, task.codes), dtype=torch.long)}

    @classmethod
    def from_manifest(cls, manifest: Manifest, config: PretrainedConfig, tokenizer: Path | None) -> Self:
        task = cast("declared.TextToImage", manifest.task)
        loaded = text.load_tokenizer(tokenizer, config)
        if config.pad_token_id >= config.vocab_size:
            raise ManifestError("number_too_large", "$.model.config.pad_token_id", most=config.vocab_size - 1)
        return cls(task, loaded, config.pad_token_id, config.image_vocab_size)

    def batches(self, samples: Iterable[CaptionedCodes], size: int, seed: int) -> Iterator[Batch]:
        del seed  # no random choices
        for rows in text.chunks(self._rows(samples), size):
            captions, codes = (torch.tensor(column) for column in zip(*rows, strict=True))
            yield {"captions": captions, "codes": codes}

    def evaluate(self, model: Any, samples: Iterable[CaptionedCodes]) -> Evaluation:
        """The figure is the share of the codes that are predicted correctly, each from the right ones before it."""
        loss = image_loss = right = 0.0
        count, shown = 0, None
        most = min(
            _EVALUATION_SAMPLES, max(1, _EVALUATION_TOKENS // (self.settings.caption_length + self.settings.codes))
        )
        with text.evaluating(model) as device:
            for batch in self.batches(islice(samples, most), _EVALUATION_BATCH, seed=0):
                captions, codes = batch["captions"].to(device), batch["codes"].to(device)
                made = model(captions, codes)
                count += len(codes)
                loss += float(made.loss) * len(codes)
                image_loss += float(made.image_loss) * len(codes)
                right += float((made.image_logits.argmax(-1) == codes).float().mean(-1).sum())
                if shown is None and self.settings.codebook is not None:
                    shown = drawn(self.tokenizer, model, captions[0], self.settings.codes, self.settings.codebook)
        accuracy = Figure("image_code_accuracy", text.mean(right, count))
        others = (Figure("image_code_loss", text.mean(image_loss, count)),)
        return Evaluation(text.mean(loss, count), accuracy, others, shown)

    def _rows(self, samples: Iterable[CaptionedCodes]) -> Iterator[tuple[list[int], tuple[int, ...]]]:
        """Tokens and codes of those samples that fit the model.

        Raises:
            ManifestError: none does.
        """
        length, unfit, found = self.settings.caption_length, 0, False
        for sample in samples:
            tokens = self.tokenizer.encode(sample.caption, add_special_tokens=False).ids[:length]
            if tokens and len(sample.codes) == self.settings.codes and max(sample.codes) < self.kinds:
                yield tokens + [self.padding] * (length - len(tokens)), sample.codes
                unfit, found = 0, True
            elif (unfit := unfit + 1) == _MOST_UNFIT:
                break
        if not found or unfit == _MOST_UNFIT:
            raise ManifestError("codes_do_not_fit", "$.data", codes=self.settings.codes, kinds=self.kinds)

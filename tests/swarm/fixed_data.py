"""The same data and model for a swarm and for one process, so that their parameters can be compared."""

from collections.abc import Callable
from functools import partial
from typing import cast

import msgspec
import torch

from core.api.project.manifest import Averaging, Optimizer, Schedule, Training
from core.learning.optimizers import optimizer_factory, scheduler_factory
from core.learning.tasks.crops import MultiCrop

MICROBATCH = 4
MICROBATCHES = 4
"""Of all peers together in one epoch."""
VOCABULARY, LENGTH = 64, 16

TRAINING = Training(
    target_batch_size=MICROBATCH * MICROBATCHES,
    microbatch_size=MICROBATCH,
    optimizer=Optimizer("lamb", 0.01, weight_decay=0.01, gradient_norm=1.0),
    schedule=Schedule("linear", warmup_epochs=2, total_epochs=100),
)
AVERAGING = Averaging(compression="none", matchmaking_time=1.0, averaging_timeout=30.0, average_state_every=2)


MEAN = msgspec.structs.replace(AVERAGING, reducer="mean")
"""Where CenteredClip would act on honest peers: it looks at each tensor by itself, and with four samples the gradients
of the two values of a sentence order's bias are many times as large at one peer as at the other."""


LARC = Optimizer("sgd", 0.003, momentum=0.9, trust=0.1)
"""As in SwAV's published run. LAMB and AdamW divide by the size of gradients: a bias before a batch normalisation has
gradients of rounding errors alone, of which they make steps that differ (by 0.0017 after five, without any effect)."""


def training_of(task: str) -> Training:
    """What the peers of the equivalence test and the one process train with."""
    return msgspec.structs.replace(TRAINING, optimizer=LARC) if task == "swav" else TRAINING


def averaging_of(task: str) -> Averaging:
    """How the peers of the equivalence test average."""
    return AVERAGING if task in ("masked", "causal", "documents", "text_to_image") else MEAN


def make_model(task: str = "masked") -> torch.nn.Module:
    """Of one of the tasks in `_MODELS`."""
    torch.manual_seed(0)
    return _MODELS[task]()


def _albert(architecture: str) -> torch.nn.Module:
    from transformers.models.albert import modeling_albert

    kind = getattr(modeling_albert, architecture)
    model: torch.nn.Module = kind(
        kind.config_class(
            vocab_size=VOCABULARY,
            embedding_size=16,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=LENGTH,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            classifier_dropout_prob=0.0,
        )
    )
    return model


def _causal() -> torch.nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=LENGTH,
            n_embd=32,
            n_layer=2,
            n_head=2,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=0,
            eos_token_id=0,
        )
    )


def _llama() -> torch.nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=LENGTH,
        )
    )


def _text_to_image() -> torch.nn.Module:
    from core.learning.text_to_image import TextToImageConfig, TextToImageTransformer

    return TextToImageTransformer(
        TextToImageConfig(
            vocab_size=VOCABULARY,
            image_vocab_size=VOCABULARY,
            pad_token_id=0,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=5,
            num_attention_heads=2,
            num_hidden_groups=2,
            last_attention="local",
        )
    )


def _swav() -> torch.nn.Module:
    from core.learning.swav_resnet import SwavResNet

    return SwavResNet(
        SwavResNet.config_class(
            embedding_size=8,
            hidden_sizes=[8, 16],
            depths=[1, 1],
            layer_type="basic",
            projection_hidden=16,
            projection_size=8,
            prototypes=12,
        )
    )


def _swav_loss(model: torch.nn.Module, generator: torch.Generator) -> torch.Tensor:
    """Of random views, which the order of a peer makes from seeds; without a queue, which no peer shares."""
    from core.api.project.tasks import Swav
    from core.learning.tasks.swav import Queue, SwavTask

    settings = Swav(large_crop=16, small_crop=8, small_crops=1, freeze_prototypes=2)
    crops = MultiCrop(16, 8, 1, settings.large_share, settings.small_share)
    pictures = torch.randint(256, (MICROBATCH, 3, 24, 24), generator=generator, dtype=torch.uint8)
    large, small = crops.views(list(pictures), generator)
    return SwavTask(settings, crops, Queue(0)).loss(model, {"large": large, "small": small}, epoch=2)


_MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "masked": partial(_albert, "AlbertForMaskedLM"),
    "sentence_order": partial(_albert, "AlbertForPreTraining"),
    "causal": _causal,
    "documents": _llama,
    "text_to_image": _text_to_image,
    "swav": _swav,
}


def microbatch_loss(model: torch.nn.Module, epoch: int, index: int, task: str = "masked") -> torch.Tensor:
    """The loss of one microbatch: `index` of MICROBATCHES in `epoch`."""
    generator = torch.Generator().manual_seed(epoch * MICROBATCHES + index)
    if task == "swav":
        return _swav_loss(model, generator)
    tokens = torch.randint(VOCABULARY, (MICROBATCH, LENGTH), generator=generator)
    if task == "text_to_image":
        return cast("torch.Tensor", model(captions=tokens[:, :7], codes=tokens[:, 7:]).loss)
    more = {"sentence_order_label": tokens[:, 0] % 2} if task == "sentence_order" else {}
    labels = tokens
    if task == "documents":
        # The second text begins at another place in each row.
        begins = torch.randint(1, LENGTH, (MICROBATCH, 1), generator=generator)
        places = torch.arange(LENGTH).expand(MICROBATCH, LENGTH)
        more = {"position_ids": torch.where(places < begins, places, places - begins)}
        labels = tokens.masked_fill(more["position_ids"] == 0, -100)
    loss: torch.Tensor = model(input_ids=tokens, labels=labels, **more).loss
    return loss


def train_alone(epochs: int, task: str = "masked") -> torch.nn.Module:
    """One process that takes the large batches whole."""
    model = make_model(task)
    training = training_of(task)
    optimizer = optimizer_factory(training.optimizer)(model.parameters())
    scheduler = scheduler_factory(training.schedule)(optimizer)
    for epoch in range(epochs):
        for index in range(MICROBATCHES):
            (microbatch_loss(model, epoch, index, task) / MICROBATCHES).backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    return model

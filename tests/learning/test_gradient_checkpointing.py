"""Gradient checkpointing: the same gradients from less memory."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec
import pytest
import torch
from transformers.modeling_utils import PreTrainedModel

from core.api.errors import ManifestError
from core.api.project.manifest import Manifest, Model
from core.api.project.tasks import SentenceOrderPrediction, Swav
from core.learning.gradient_checkpointing import enable_checkpointing
from core.learning.model import build_model
from core.learning.order import Order, Piece, loss_of
from core.learning.peak_memory import PeakMemory
from core.learning.tasks import TASKS
from core.learning.tasks.crops import MultiCrop
from core.learning.tasks.swav import Queue, SwavTask
from core.learning.tasks.task import Batch
from tests.learning.small_project import small_causal_manifest, small_manifest

LENGTH = 64
DROPOUT: dict[str, Any] = {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Several would wait for each other in such small layers, whose memory is less than that of anything else."""
    monkeypatch.setattr("core.system.resident_peak.begin", lambda: None)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def masked() -> Manifest:
    return small_manifest(LENGTH, num_hidden_layers=6, **DROPOUT)


def order_of_sentences() -> Manifest:
    model = Model("AlbertForPreTraining", masked().model.config)
    return msgspec.structs.replace(masked(), model=model, task=SentenceOrderPrediction(LENGTH))


def causal() -> Manifest:
    return small_causal_manifest(LENGTH, n_layer=6, resid_pdrop=0.1, attn_pdrop=0.1)


def llama() -> Manifest:
    sizes = {"vocab_size": 100, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 6}
    model = Model("LlamaForCausalLM", {**sizes, "num_attention_heads": 2, "max_position_embeddings": LENGTH})
    return msgspec.structs.replace(causal(), model=model)


def pictures() -> Manifest:
    sizes = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [4, 4], "layer_type": "basic"}
    small = {"projection_hidden": 16, "projection_size": 8, "prototypes": 5}
    task = Swav(large_crop=32, small_crop=16, small_crops=2)
    return msgspec.structs.replace(masked(), model=Model("SwavResNet", {**sizes, **small}), task=task, tokenizer=None)


def loss_with(manifest: Manifest, model: PreTrainedModel) -> Callable[[], torch.Tensor]:
    """The loss as a trainer computes it, of 8 samples of random contents."""
    example = TASKS[type(manifest.task)].example(manifest.task, model.config)
    torch.manual_seed(1)
    batch: Batch = {
        name: torch.randint(0, 100 if name in {"input_ids", "labels"} else 2, (8, *value.shape[1:]))
        if value.dtype == torch.long
        else torch.rand(8, *value.shape[1:])
        for name, value in example.items()
    }
    return partial(loss_of, Order(_task(manifest), tuple, 8, "run", b"peer"), model, Piece(0, 0, 8), batch)  # type: ignore[arg-type]


class _Whole:
    """The loss that the model itself computes."""

    least_samples = 1

    def loss(self, model: torch.nn.Module, batch: Batch, _epoch: int) -> torch.Tensor:
        loss: torch.Tensor = model(**batch).loss
        return loss


def _task(manifest: Manifest) -> object:
    if isinstance(manifest.task, Swav):
        return SwavTask(manifest.task, MultiCrop(32, 16, 2, (0.2, 1.0), (0.1, 0.2)), Queue(0))
    return _Whole()


def gradients(compute: Callable[[], torch.Tensor], model: PreTrainedModel) -> tuple[torch.Tensor, int]:
    """Of all parameters, and the bytes that they took."""
    model.zero_grad()
    with PeakMemory() as memory:
        compute().backward()
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]), memory.peak


@pytest.mark.parametrize("project", [masked, order_of_sentences, causal, llama, pictures])
def test_gradients_are_the_same_and_take_less_memory(project: Callable[[], Manifest]) -> None:
    manifest = project()
    model = build_model(manifest)
    model.train()
    compute = loss_with(manifest, model)
    expected, before = gradients(compute, model)
    enable_checkpointing(model)
    found, after = gradients(compute, model)
    assert expected.norm() > 0
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-7)
    assert after < 0.6 * before


def test_a_manifest_can_ask_for_it() -> None:
    training = msgspec.structs.replace(masked().training, gradient_checkpointing=True)
    model = build_model(msgspec.structs.replace(masked(), training=training))
    with pytest.raises(ValueError, match="on already"):
        enable_checkpointing(model)


def test_a_model_without_layers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.learning.gradient_checkpointing._layers", lambda _model: iter(()))
    training = msgspec.structs.replace(masked().training, gradient_checkpointing=True)
    with pytest.raises(ManifestError, match="no layer can be computed again"):
        build_model(msgspec.structs.replace(masked(), training=training))

"""Causal language modelling: samples, a loss against a plain reference, perplexity."""

import math
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from core.api.errors import ManifestError
from core.api.project.manifest import Manifest, Model
from core.api.project.manifest_reading import check
from core.api.project.tasks import CausalLanguageModelling
from core.learning.model import build_model
from core.learning.tasks import task_for
from core.learning.tasks.causal_language_modelling import CausalLanguageModellingTask
from tests.learning.small_project import small_causal_manifest
from tests.learning.tasks.words import TEXT, tokenizer_file

LLAMA = {
    "vocab_size": 100,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 16,
}
GPT_NEOX = {name: value for name, value in LLAMA.items() if name != "num_key_value_heads"}
MODELS = {
    "GPT2LMHeadModel": {"vocab_size": 100, "n_positions": 16, "n_embd": 32, "n_layer": 2, "n_head": 2},
    "GPTNeoXForCausalLM": GPT_NEOX,
    "LlamaForCausalLM": LLAMA,
    "MistralForCausalLM": LLAMA,
    "Qwen2ForCausalLM": LLAMA,
}


@pytest.fixture(params=MODELS)
def manifest(request: pytest.FixtureRequest) -> Manifest:
    return msgspec.structs.replace(small_causal_manifest(), model=Model(request.param, MODELS[request.param]))


def task_of(manifest: Manifest, tokenizer: Path) -> tuple[CausalLanguageModellingTask, Any]:
    model: Any = build_model(manifest)
    model.eval()
    task = task_for(manifest, model.config, tokenizer)
    assert isinstance(task, CausalLanguageModellingTask)
    return task, model


def test_every_model_that_may_be_named_is_tested_here() -> None:
    assert set(CausalLanguageModellingTask.architectures) == set(MODELS)


def test_the_loss_is_the_mean_of_minus_the_log_of_what_each_next_token_was_given(
    manifest: Manifest, tmp_path: Path
) -> None:
    task, model = task_of(manifest, tokenizer_file(tmp_path))
    batch = next(task.batches([TEXT], 3, seed=0))
    chances = model(batch["input_ids"]).logits.detach().double().softmax(-1)
    reference = [
        -math.log(chances[row, place, batch["input_ids"][row, place + 1]]) for row in range(3) for place in range(15)
    ]
    assert task.loss(model, batch).item() == pytest.approx(sum(reference) / len(reference), rel=1e-5)


def test_no_prediction_sees_the_tokens_after_it(manifest: Manifest, tmp_path: Path) -> None:
    task, model = task_of(manifest, tokenizer_file(tmp_path))
    tokens = next(task.batches([TEXT], 2, seed=0))["input_ids"]
    others = tokens.clone()
    others[:, 9:] = 7
    before, after = (model(each).logits for each in (tokens, others))
    assert torch.allclose(before[:, :9], after[:, :9], atol=1e-6)
    assert not torch.allclose(before[:, 9:], after[:, 9:], atol=1e-3)


def test_samples_are_the_texts_one_after_the_other_with_the_separator_between_them(tmp_path: Path) -> None:
    manifest = msgspec.structs.replace(small_causal_manifest(), task=CausalLanguageModelling(16, separator="[SEP]"))
    task, _ = task_of(manifest, tokenizer_file(tmp_path))
    [batch] = islice(task.batches(["w0 w1 w2"] * 100, 4, seed=0), 1)
    assert batch["input_ids"].flatten().tolist() == [5, 6, 7, 3] * 16
    assert torch.equal(batch["input_ids"], batch["labels"])


def test_with_boundaries_each_text_is_learned_as_if_it_were_alone(manifest: Manifest, tmp_path: Path) -> None:
    declared = CausalLanguageModelling(16, separator="[SEP]", document_boundaries=True)
    task, model = task_of(msgspec.structs.replace(manifest, task=declared), tokenizer_file(tmp_path))
    texts = ["w0 w1 w2 w3", "w9", "w4 w5 w6 w7 w8 w10 w11", "w12 w13 w14 w15 w16 w17 w18 w19 w20 w21 w22 w23"]
    [batch] = task.batches(texts, 4, seed=0)
    documents = [[[5, 6, 7, 8, 3], [14, 3], [9, 10, 11, 12, 13, 15, 16, 3], [17]], [[*range(18, 29), 3]]]
    assert batch["input_ids"][0].tolist() == [token for document in documents[0] for token in document]
    assert batch["position_ids"][0].tolist() == [*range(5), *range(2), *range(8), 0]
    losses = [
        torch.nn.functional.cross_entropy(
            model(torch.tensor([document])).logits[0, :-1],
            torch.tensor(document[1:], dtype=torch.long),
            reduction="none",
        )
        for document in documents[0]
    ]
    assert task.loss(model, batch).item() == pytest.approx(float(torch.cat(losses).detach().mean()), rel=1e-5)


def test_what_a_row_has_of_a_text_from_the_row_before_begins_with_zero(tmp_path: Path) -> None:
    declared = CausalLanguageModelling(16, separator="[SEP]", document_boundaries=True)
    task, model = task_of(msgspec.structs.replace(small_causal_manifest(), task=declared), tokenizer_file(tmp_path))
    [batch] = islice(task.batches(["w0 w1 w2", " ".join(["w5"] * 30), "w1"] * 2, 2, seed=0), 1)
    assert batch["position_ids"].tolist() == [[*range(4), *range(12)], [*range(16)]]
    assert batch["labels"][1].tolist() == [-100, *[10] * 15]
    whole = task.loss(model, batch)
    halves = [task.loss(model, {name: value[row : row + 1] for name, value in batch.items()}) for row in range(2)]
    assert whole.item() == pytest.approx((halves[0].item() * 14 + halves[1].item() * 15) / 29, rel=1e-5)


def test_boundaries_need_a_separator() -> None:
    declared = CausalLanguageModelling(16, document_boundaries=True)
    with pytest.raises(ManifestError) as raised:
        check(msgspec.to_builtins(msgspec.structs.replace(small_causal_manifest(), task=declared)))
    assert raised.value.field == "$.task.separator"


def test_perplexity_is_the_exponential_of_the_loss_on_held_out_text(tmp_path: Path) -> None:
    task, model = task_of(small_causal_manifest(), tokenizer_file(tmp_path))
    model.train()
    found = task.evaluate(model, [TEXT])
    assert found == task.evaluate(model, [TEXT])
    assert found.figure.kind == "perplexity"
    assert found.figure.value == pytest.approx(math.exp(found.loss))
    assert found.figure.value == pytest.approx(100, rel=0.2), "before training every token is about equally likely"
    assert model.training


def test_a_wide_feed_forward_layer_is_not_taken_for_many_layers() -> None:
    build_model(small_causal_manifest(n_inner=8192))
    with pytest.raises(ManifestError) as raised:
        build_model(small_causal_manifest(n_layer=8192))
    assert raised.value.field == "$.model.config.n_layer"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (
            {"model": Model("GPT2LMHeadModel", {**MODELS["GPT2LMHeadModel"], "n_positions": 15})},
            "$.task.sequence_length",
        ),
        ({"model": Model("LlamaForCausalLM", {**LLAMA, "max_position_embeddings": 15})}, "$.task.sequence_length"),
        ({"task": CausalLanguageModelling(4096), "model": Model("GPT2LMHeadModel", {})}, "$.task.sequence_length"),
        (
            {"model": Model("GPT2LMHeadModel", {**MODELS["GPT2LMHeadModel"], "vocab_size": 99})},
            "$.model.config.vocab_size",
        ),
        ({"model": Model("GPT2LMHeadModel", {**MODELS["GPT2LMHeadModel"], "n_embd": 33})}, "$.model.config"),
        ({"model": Model("LlamaForCausalLM", {**LLAMA, "n_positions": 16})}, "$.model.config.n_positions"),
        ({"model": Model("BertLMHeadModel", {})}, "$.model.architecture"),
        ({"model": Model("AlbertForMaskedLM", {})}, "$.model.architecture"),
        ({"task": CausalLanguageModelling(16, separator="<end>")}, "$.task.separator"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_field(changes: dict[str, Any], field: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as raised:
        task_of(msgspec.structs.replace(small_causal_manifest(), **changes), tokenizer_file(tmp_path))
    assert raised.value.field == field


def test_a_file_that_is_not_a_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    for file in (tmp_path / "no.json", None):
        with pytest.raises(ManifestError) as raised:
            task_of(small_causal_manifest(), file)  # type: ignore[arg-type]  # None: the manifest has no tokenizer
        assert raised.value.field == "$.tokenizer"

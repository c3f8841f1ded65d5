"""Models by name: what is built, and what is refused."""

import time
from typing import Any

import msgspec
import psutil
import pytest
import torch

from core.api.errors import ManifestError
from core.api.project.manifest import Model
from core.learning.model import build_model
from tests.learning.small_project import small_manifest


def test_the_same_seed_gives_every_peer_the_same_parameters() -> None:
    one, other = build_model(small_manifest()), build_model(small_manifest())
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    training = msgspec.structs.replace(small_manifest().training, seed=1)
    third = build_model(msgspec.structs.replace(small_manifest(), training=training))
    assert not all(torch.equal(a, b) for a, b in zip(one.parameters(), third.parameters(), strict=True))


def test_building_a_model_leaves_the_random_numbers_of_others_alone() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    build_model(small_manifest())
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("name", ["AlbertModel", "PreTrainedModel", "Trainer", "os", "GPT2LMHeadModel", "NoSuchModel"])
def test_only_models_of_the_task_are_built(name: str) -> None:
    manifest = msgspec.structs.replace(small_manifest(), model=Model(name, {}))
    with pytest.raises(ManifestError, match=r"\$\.model\.architecture"):
        build_model(manifest)


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"hidden_size": 33}, r"\$\.model\.config"),
        ({"hidden_act": "no_such_function"}, r"\$\.model\.config"),
        ({"hidden_sise": 32}, r"\$\.model\.config\.hidden_sise"),
        ({"vocab_size": "many"}, r"\$\.model\.config"),
        ({"num_attention_heads": 0}, r"\$\.model\.config"),
    ],
)
def test_a_configuration_that_does_not_fit_names_its_field(config: dict[str, Any], field: str) -> None:
    with pytest.raises(ManifestError, match=field):
        build_model(small_manifest(**config))


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"num_hidden_layers": 10**6}, "num_hidden_layers"),
        ({"num_hidden_groups": 10**6}, "num_hidden_groups"),
        ({"num_labels": 10**9}, "num_labels"),
        ({"vocab_size": 10**12}, "vocab_size"),
        ({"hidden_size": 2**40}, "hidden_size"),
        ({"hidden_size": 2**22, "intermediate_size": 2**22}, ""),
        ({"num_hidden_layers": 257}, "num_hidden_layers"),
        ({"num_hidden_layers": 256, "num_hidden_groups": 4096, "inner_group_num": 4096}, ""),
    ],
)
def test_a_model_that_is_too_large_is_refused_at_once_with_the_fields_name(config: dict[str, Any], field: str) -> None:
    manifest = small_manifest(**config)
    build_model(small_manifest())  # loads what the first model of a process loads
    began, before = time.monotonic(), psutil.Process().memory_info().rss
    with pytest.raises(ManifestError) as refused:
        build_model(manifest)
    assert refused.value.field == "$.model.config" + (f".{field}" if field else "")
    assert time.monotonic() - began < 20.0
    assert psutil.Process().memory_info().rss < before + (128 << 20)

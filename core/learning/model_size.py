"""Limits the size of a model, from its configuration, before it is built.

Manifests are untrusted: a million layers would take hours to build, and wide ones all memory.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psutil
import torch
from torch.nn.modules import module as registration
from transformers.configuration_utils import PretrainedConfig
from transformers.initialization import no_init_weights
from transformers.modeling_utils import PreTrainedModel

from core.api.errors import ManifestError
from core.learning.light_imports import with_meta_kernels

_LARGEST_WIDTH = 1 << 24
"""Of any whole number in a configuration; the largest are vocabularies, with hundreds of thousands."""
_MOST_REPEATS = 4096
"""Of layers, heads, groups and experts, which are built one by one; not of GPT-2's widths with similar names."""
_REPEATED = re.compile(
    r"num_.*|n_(?!embd|inner|positions).*|.*_(num|layers?|groups?|heads?|experts?|blocks?|depths?|sizes)|layers|depths?"
)
_MOST_LAYERS = 256
"""That a sample passes one after the other; where they share parameters, more take time without taking memory."""
_LAYERS = re.compile(r".*layers?|depths?")
_MOST_MODULES = 10_000
"""Parts of a model; BERT-large has about 400."""
_COPIES = 8
"""Copies of the parameters in memory: parameters, gradients, accumulated gradients, two moments, averaged tensors."""
_FLOAT = 4


def check_numbers(values: Mapping[str, Any]) -> None:
    """Refuse a configuration with unreasonable numbers.

    Raises:
        ManifestError: names the first such field.
    """
    for name, value in values.items():
        most = _MOST_REPEATS if _REPEATED.fullmatch(name) else _LARGEST_WIDTH
        most = _MOST_LAYERS if _LAYERS.fullmatch(name) else most
        if any(abs(number) > most for number in _whole_numbers(value)):
            raise ManifestError("number_too_large", f"$.model.config.{name}", most=most)


def check_memory(build: Callable[[], PreTrainedModel], config: PretrainedConfig, sequence_length: int) -> None:
    """Refuse a model that is too large to train in this machine's memory. `build` makes it on torch's meta device.

    Raises:
        ManifestError: it is too large.
    """
    most = psutil.virtual_memory().total
    kinds = max(int(getattr(config, name, 0) or 0) for name in ("vocab_size", "image_vocab_size"))
    logits = sequence_length * kinds
    attention = sequence_length**2 * int(getattr(config, "num_attention_heads", 0) or 0)
    parameters = with_meta_kernels(lambda: _parameters(build, most // (_FLOAT * _COPIES)))
    needed = _FLOAT * (_COPIES * parameters + logits + attention)
    if needed > most:
        raise _too_large(needed, most)


def _too_large(needed: int, most: int) -> ManifestError:
    return ManifestError("model_too_large", "$.model.config", needed=needed, memory=most)


def _parameters(build: Callable[[], PreTrainedModel], most: int) -> int:
    count = 0
    modules = 0

    def add_parameter(_module: object, _name: str, parameter: torch.nn.Parameter | None) -> None:
        nonlocal count
        count += parameter.numel() if parameter is not None else 0
        if count > most:
            raise _too_large(_FLOAT * _COPIES * count, _FLOAT * _COPIES * most)

    def add_module(*_: object) -> None:
        nonlocal modules
        modules += 1
        if modules > _MOST_MODULES:
            raise ManifestError("model_too_many_parts", "$.model.config", most=_MOST_MODULES)

    # Without values: torch would load SymPy for those of parameters that are nowhere.
    with _watched(add_parameter, add_module), no_init_weights(), torch.device("meta"):
        model = build()
        model.tie_weights(recompute_mapping=False)
        # Not `count`: tied parameters are registered twice.
        return sum(parameter.numel() for parameter in model.parameters())


@contextmanager
def _watched(on_parameter: Callable[..., None], on_module: Callable[..., None]) -> Iterator[None]:
    handles = (
        registration.register_module_parameter_registration_hook(on_parameter),
        registration.register_module_module_registration_hook(on_module),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _whole_numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, list | tuple):
        # The entries of a list are built one by one, too.
        yield len(value)
        for entry in value:
            yield from _whole_numbers(entry)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _whole_numbers(entry)

"""Models from a manifest: a transformers class by name and its configuration, never remote code."""

from importlib import import_module
from typing import Any

import torch
from transformers.configuration_utils import PretrainedConfig
from transformers.modeling_utils import PreTrainedModel
from transformers.models.auto.configuration_auto import model_type_to_module_name

from core.api.errors import ManifestError
from core.api.message import Message
from core.api.project.manifest import Manifest
from core.learning.gradient_checkpointing import enable_checkpointing
from core.learning.model_size import check_memory, check_numbers
from core.learning.tasks import TASKS


def build_model(manifest: Manifest) -> PreTrainedModel:
    """The project's model with its initial parameters, which depend only on the manifest's seed.

    Raises:
        ManifestError: the architecture does not fit the task or does not accept the configuration.
    """
    architecture = _architecture(manifest)
    check_numbers(manifest.model.config)
    config = _config(architecture, manifest.model.config)
    example = TASKS[type(manifest.task)].example(manifest.task, config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(manifest.training.seed)
        try:
            check_memory(lambda: architecture(config), config, max(value.numel() for value in example.values()))
            model: PreTrainedModel = architecture(config)
            if manifest.training.gradient_checkpointing:
                enable_checkpointing(model)
            with torch.no_grad():
                # Some wrong configurations fail only with a sample.
                model(**example)
        except ManifestError:
            raise
        except (ValueError, TypeError, RuntimeError, LookupError, AttributeError, ZeroDivisionError) as error:
            # Each architecture's code raises its own errors.
            problem = Message("model_not_built", {"model": architecture.__name__, "detail": _detail(error)})
            raise ManifestError(problem, "$.model.config") from error
    return model


def _architecture(manifest: Manifest) -> Any:
    name = manifest.model.architecture
    kind = TASKS[type(manifest.task)].architectures.get(name)
    if kind is None:
        raise ManifestError("model_unknown", "$.model.architecture", name=name)
    return architecture_named(name, kind)


def architecture_named(name: str, kind: str) -> Any:
    """The class of a task's `architectures`: of transformers, or of a module of our own. Only this module is loaded."""
    module = kind if kind.startswith("core.") else f"transformers.models.{model_type_to_module_name(kind)}"
    return getattr(import_module(module), name)


def _config(architecture: Any, values: dict[str, Any]) -> PretrainedConfig:
    config_class = architecture.config_class
    unknown = sorted(set(values) - set(config_class().to_dict()))
    if unknown:
        raise ManifestError("setting_unknown", f"$.model.config.{unknown[0]}", model=config_class.__name__)
    try:
        config: PretrainedConfig = config_class(**values)
    except Exception as error:  # the checks differ from one configuration class to the next
        raise ManifestError("config_refused", "$.model.config", detail=_detail(error)) from error
    return config


def _detail(error: Exception) -> str:
    """The last line of a library's message, which is where the cause is."""
    lines = str(error).strip().splitlines()
    return lines[-1].rstrip(".") if lines else type(error).__name__


def count_parameters(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())

"""Learning tasks, one a file, listed here by their manifest type."""

from pathlib import Path

from transformers.configuration_utils import PretrainedConfig

from core.api.project.manifest import Manifest
from core.api.project.tasks import (
    CausalLanguageModelling,
    MaskedLanguageModelling,
    SentenceOrderPrediction,
    Swav,
    TextToImage,
)
from core.learning.tasks.causal_language_modelling import CausalLanguageModellingTask
from core.learning.tasks.masked_language_modelling import MaskedLanguageModellingTask
from core.learning.tasks.sentence_order_prediction import SentenceOrderPredictionTask
from core.learning.tasks.swav import SwavTask
from core.learning.tasks.task import Task
from core.learning.tasks.text_to_image import TextToImageTask

TASKS: dict[type, type[Task]] = {
    MaskedLanguageModelling: MaskedLanguageModellingTask,
    SentenceOrderPrediction: SentenceOrderPredictionTask,
    CausalLanguageModelling: CausalLanguageModellingTask,
    Swav: SwavTask,
    TextToImage: TextToImageTask,
}


def task_for(manifest: Manifest, config: PretrainedConfig, tokenizer: Path | None) -> Task:
    """The task that the manifest declares, for a model of this configuration.

    Raises:
        ManifestError: the tokenizer does not fit the task or the model.
    """
    return TASKS[type(manifest.task)].from_manifest(manifest, config, tokenizer)

"""A small text-to-image task with its model and codebook."""

from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
from PIL import Image

from core.api.project.data import CaptionedCodesData
from core.api.project.fields import File
from core.api.project.manifest import Manifest, Model
from core.api.project.tasks import TextToImage
from core.learning.model import build_model
from core.learning.tasks import task_for
from core.learning.tasks.text_to_image import TextToImageTask
from tests.learning.small_project import small_manifest
from tests.learning.tasks.words import tokenizer_file

FILE = File("http://127.0.0.1:9/nothing", "0" * 64, 1)
COLOURS = [(number * 16, 40, 200 - number * 10) for number in range(16)]


def codebook(codes: int = 16, width: int = 2) -> bytes:
    image = Image.new("RGB", (width, codes * width))
    for code in range(codes):
        image.paste(COLOURS[code % 16], (0, code * width, width, (code + 1) * width))
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


TASK: dict[str, Any] = {"caption_length": 6, "image_size": 16, "patch": 4, "codebook": codebook()}


def manifest(task: dict[str, Any] | None = None, **config: Any) -> Manifest:
    network = {
        "vocab_size": 100,
        "image_vocab_size": 16,
        "pad_token_id": 0,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 4,
        "num_attention_heads": 2,
        "num_hidden_groups": 2,
        **config,
    }
    return msgspec.structs.replace(
        small_manifest(),
        model=Model("TextToImageTransformer", network),
        task=TextToImage(**{**TASK, **(task or {})}),
        data=CaptionedCodesData((FILE,)),
    )


def made(folder: Path, **config: Any) -> tuple[TextToImageTask, Any]:
    declared = manifest(**config)
    model: Any = build_model(declared)
    task = task_for(declared, model.config, tokenizer_file(folder))
    assert isinstance(task, TextToImageTask)
    return task, model

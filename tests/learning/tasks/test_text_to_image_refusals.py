"""Text to image: which manifests, models and files are refused, and that little memory is needed to find out."""

import struct
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import msgspec
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from core.api.errors import ManifestError, UsageError
from core.api.project.data import CaptionedCodesData, ImageTarData, TextData
from core.api.project.manifest import Model
from core.api.project.manifest_reading import check
from core.api.project.tasks import TextToImage
from core.host.project import load
from core.learning.model import build_model
from core.learning.text_to_image import _Places
from tests.host.published_projects import complete
from tests.learning.small_project import small_manifest
from tests.learning.tasks.small_text_to_image import FILE, TASK, codebook, made, manifest


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"data": TextData((FILE,))}, "$.data.type"),
        ({"data": ImageTarData((FILE,))}, "$.data.type"),
        ({"tokenizer": None}, "$.tokenizer"),
        ({"task": TextToImage(**{**TASK, "image_size": 18})}, "$.task.image_size"),
        ({"task": TextToImage(**{**TASK, "image_size": 260})}, "$.task.image_size"),
        ({"task": TextToImage(**{**TASK, "codebook": codebook(17)})}, "$.task.codebook"),
        ({"task": TextToImage(**{**TASK, "codebook": codebook(width=8)})}, "$.task.codebook"),
        ({"task": TextToImage(**{**TASK, "codebook": b"GIF89a"})}, "$.task.codebook"),
        ({"model": Model("TextToImageTransformer", {"pad_token_id": 0})}, "$.model.config.image_vocab_size"),
        ({"model": Model("TextToImageTransformer", {"image_vocab_size": 16})}, "$.model.config.pad_token_id"),
        ({"model": Model("TextToImageTransformer", {"pad_token_id": -1})}, "$.model.config.pad_token_id"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused_with_its_field(changes: dict[str, Any], field: str) -> None:
    plain = msgspec.to_builtins(msgspec.structs.replace(manifest(), **changes))
    with pytest.raises(ManifestError) as raised:
        check(plain)
    assert raised.value.field == field


def test_other_tasks_refuse_captioned_codes() -> None:
    plain = msgspec.to_builtins(msgspec.structs.replace(small_manifest(), data=CaptionedCodesData((FILE,))))
    with pytest.raises(ManifestError) as raised:
        check(plain)
    assert raised.value.field == "$.data.type"


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"vocab_size": 99}, "$.model.config.vocab_size"),
        ({"pad_token_id": 100}, "$.model.config.pad_token_id"),
        ({"attention": ["diagonal"]}, "$.model.config"),
        ({"last_attention": "none"}, "$.model.config"),
        ({"num_hidden_groups": 0}, "$.model.config"),
        ({"layers_of": 3}, "$.model.config.layers_of"),
        ({"num_hidden_layers": 257}, "$.model.config.num_hidden_layers"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_with_its_field(tmp_path: Path, config: Any, field: str) -> None:
    with pytest.raises(ManifestError) as raised:
        made(tmp_path, **config)
    assert raised.value.field == field


def test_scores_of_codes_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.learning.model_size.psutil.virtual_memory", lambda: SimpleNamespace(total=1 << 30))
    with pytest.raises(ManifestError, match="model_too_large"):
        build_model(manifest({"image_size": 64, "patch": 1, "codebook": None}, image_vocab_size=100_000))


class Largest(TorchDispatchMode):
    """Bytes of the largest tensor that is made meanwhile."""

    size = 0

    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        self.size = max(self.size, made.numel() * made.element_size())
        return made


@pytest.mark.parametrize("kind", ["row", "column", "local"])
def test_what_a_layer_sees_takes_little_memory_to_find_out(kind: str) -> None:
    with Largest() as largest:  # type: ignore[no-untyped-call]  # torch's class has no types
        mask = _Places.of(64, 32 * 32, torch.device("cpu")).mask(kind, 0, 64 + 32 * 32)
    assert mask is not None
    assert largest.size <= 2 * mask.numel()


@pytest.mark.parametrize("height", [1 << 20, 1 << 23])
def test_a_codebook_of_very_many_pixels_is_refused_before_it_is_unpacked(tmp_path: Path, height: int) -> None:
    here = complete("shapes", tmp_path).path.parent
    parts = ((b"IHDR", struct.pack(">IIBBBBB", 64, height, 1, 0, 0, 0, 0)), (b"IDAT", b""), (b"IEND", b""))
    chunks = (struct.pack(">I", len(it)) + name + it + struct.pack(">I", crc32(name + it)) for name, it in parts)
    (here / "codebook.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    with pytest.raises(UsageError, match=r"file_unreadable .*pixels"):
        load(here / "project.toml")


def test_an_organiser_learns_which_file_does_not_fit(tmp_path: Path) -> None:
    here = complete("shapes", tmp_path).path.parent
    (here / "codebook.png").write_bytes(codebook(191, 4))
    wrong = partial(load, here / "project.toml")
    with pytest.raises(UsageError, match="codebook_of_another_size") as raised:
        wrong()
    assert raised.value.message.params["field"] == "task.codebook"
    (here / "codebook.png").write_bytes(codebook(192, 4)[:-30])
    with pytest.raises(UsageError, match="file_unreadable"):
        wrong()
    (here / "codebook.png").unlink()
    with pytest.raises(UsageError, match="file_unreadable"):
        wrong()

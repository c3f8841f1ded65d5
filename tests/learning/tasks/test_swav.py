"""SwAV on small generated textures: views, assignments, prototypes, the queue, and what is learned."""

import io
import runpy
import weakref
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from PIL import Image

from core.api.errors import ManifestError
from core.api.project.data import ImageTarData, TextData
from core.api.project.fields import File
from core.api.project.manifest import Manifest, Model
from core.api.project.manifest_reading import check
from core.api.project.tasks import Swav
from core.learning.data import source_for
from core.learning.data.image_tar import Picture
from core.learning.data.source import once
from core.learning.model import build_model
from core.learning.tasks import task_for
from core.learning.tasks.crops import MultiCrop
from core.learning.tasks.swav import SwavTask, probe, sinkhorn
from tests.learning.small_project import small_manifest

MAKE = Path(__file__).parents[3] / "resources" / "projects" / "textures" / "make_images.py"
FILE = File("http://127.0.0.1:9/nothing", "0" * 64, 1)
NETWORK = {
    "embedding_size": 8,
    "hidden_sizes": [8, 16],
    "depths": [1, 1],
    "layer_type": "basic",
    "projection_hidden": 16,
    "projection_size": 8,
    "prototypes": 12,
}


def swav_manifest(**task: Any) -> Manifest:
    declared = Swav(**{"large_crop": 16, "small_crop": 8, "small_crops": 2, **task})
    small = small_manifest()
    data, model = ImageTarData((FILE,)), Model("SwavResNet", NETWORK)
    return msgspec.structs.replace(small, model=model, task=declared, data=data, tokenizer=None)


def task_of(**task: Any) -> tuple[SwavTask, Any]:
    manifest = swav_manifest(**task)
    model: Any = build_model(manifest)
    made = task_for(manifest, model.config, None)
    assert isinstance(made, SwavTask)
    return made, model


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[Picture]:
    folder = tmp_path_factory.mktemp("textures")
    runpy.run_path(str(MAKE))["make"](folder, shards=1, pictures=40, held_out=40)
    return list(once(source_for(ImageTarData((FILE,))), folder / "train-0.tar"))


def plain_picture(size: int = 40) -> Picture:
    file = io.BytesIO()
    Image.new("RGB", (size, size), (200, 30, 60)).save(file, "PNG")
    return Picture(file.getvalue(), "PNG", 0)


def test_a_batch_has_the_views_of_each_picture_in_their_sizes(pictures: list[Picture]) -> None:
    task, _ = task_of()
    first, again, other = (next(task.batches(pictures, 4, seed)) for seed in (1, 1, 2))
    assert first["large"].shape == (4, 2, 3, 16, 16)
    assert first["small"].shape == (4, 2, 3, 8, 8)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["large"], other["large"])
    assert not torch.equal(first["large"][:, 0], first["large"][:, 1]), "the views of a picture differ"


def test_views_lie_within_the_picture_and_change_its_colours() -> None:
    pixels = plain_picture().decoded()
    assert pixels is not None
    generator = torch.Generator().manual_seed(0)
    crops = MultiCrop(large=32, small=8, small_views=1, large_share=(0.14, 1.0), small_share=(0.05, 0.14))
    large = torch.cat([crops.views([pixels], generator)[0][0] for _ in range(20)])
    assert large.isfinite().all()
    spread = large.flatten(2).std(-1)
    assert float(spread.max()) < 1e-5, "a picture of one colour stays one"
    assert len({tuple(view[:, 0, 0].tolist()) for view in large}) > 10


def test_one_picture_at_a_time_is_held_in_full_size() -> None:
    crops = MultiCrop(large=8, small=4, small_views=1, large_share=(0.14, 1.0), small_share=(0.05, 0.14))
    held = list[int]()

    def photographs() -> Iterator[torch.Tensor]:
        others = list[weakref.ref[torch.Tensor]]()
        for _ in range(4):
            held.append(sum(other() is not None for other in others))
            photograph = torch.zeros(3, 40, 40, dtype=torch.uint8)
            others.append(weakref.ref(photograph))
            yield photograph
            del photograph

    large, _ = crops.views(photographs(), torch.Generator().manual_seed(0))
    assert len(large) == 4
    assert held == [0] * 4


def test_pictures_that_cannot_be_decoded_are_left_out(pictures: list[Picture]) -> None:
    task, _ = task_of()
    broken = Picture(b"no picture", "PNG", 1)
    [batch] = task.batches([broken, pictures[0], broken, pictures[1]], 4, seed=0)
    assert len(batch["large"]) == 2


def test_assignments_are_even_over_the_prototypes() -> None:
    torch.manual_seed(0)
    scores = torch.randn(200, 10) * 0.3
    scores[:, 0] += 1  # without the algorithm, nearly all would be assigned to this one
    shares = sinkhorn(scores, epsilon=0.05, iterations=50)
    assert torch.allclose(shares.sum(1), torch.ones(200))
    assert torch.allclose(shares.sum(0), torch.full((10,), 20.0), atol=0.5)


def test_the_loss_is_the_cross_entropy_between_views(pictures: list[Picture]) -> None:
    task, model = task_of()
    batch = next(task.batches(pictures, 8, seed=0))
    with torch.no_grad():
        weight = torch.nn.functional.normalize(model.prototypes.weight, dim=-1)
        scores = model(**batch) @ weight.T
        wanted = 0.0
        for large in range(2):
            share = sinkhorn(scores[large], 0.05, 3)
            for other in {0, 1, 2, 3} - {large}:
                wanted -= float((share * torch.log_softmax(scores[other] / 0.1, -1)).sum(1).mean()) / 3 / 2
    assert task.loss(model, batch).item() == pytest.approx(wanted, rel=1e-5)


def test_prototypes_are_frozen_at_first(pictures: list[Picture]) -> None:
    task, model = task_of(freeze_prototypes=3)
    batch = next(task.batches(pictures, 8, seed=0))
    task.loss(model, batch, epoch=2).backward()
    assert model.prototypes.weight.grad is None
    task.loss(model, batch, epoch=3).backward()
    assert model.prototypes.weight.grad is not None


def test_the_queue_is_used_from_its_epoch_when_it_is_full_and_keeps_the_newest(pictures: list[Picture]) -> None:
    task, model = task_of(queue_length=12, queue_from_epoch=2)
    plain, _ = task_of()
    batches = list(islice(task.batches(cycle(pictures), 8, seed=0), 3))
    for batch in batches[:2]:
        assert task.loss(model, batch, epoch=2).item() == plain.loss(model, batch).item(), "it is not full"
    assert task.queue.rows is not None
    assert task.queue.rows.shape == (2, 12, 8)
    assert torch.equal(task.queue.rows[:, -8:], model(**batches[1])[:2])
    early, late = (task.loss(model, batches[2], epoch).item() for epoch in (1, 2))
    assert early == plain.loss(model, batches[2]).item()
    assert late != early


def test_the_queue_has_a_microbatch_once_that_is_given_up_and_repeated_in_parts(pictures: list[Picture]) -> None:
    task, model = task_of(queue_length=20, queue_from_epoch=0)
    before, batch = islice(task.batches(cycle(pictures), 8, seed=0), 2)
    losses = [task.loss(model, each).item() for each in (before, batch, batch)]
    assert losses[1] == losses[2]
    assert task.queue.rows is not None
    assert task.queue.rows.shape[1] == 16
    parts = [{name: value[part] for name, value in batch.items()} for part in (slice(4), slice(4, 8))]
    for part in parts:
        task.loss(model, part)
    wanted = torch.cat([model(**each)[:2] for each in (before, *parts)], 1)
    assert torch.equal(task.queue.rows, wanted)


def test_evaluation_repeats_itself_and_leaves_the_queue_alone(pictures: list[Picture]) -> None:
    task, model = task_of(queue_length=64)
    first = task.evaluate(model, pictures)
    assert first == task.evaluate(model, pictures)
    assert first.figure.kind == "probe_accuracy"
    assert 0 <= first.figure.value <= 1
    assert task.queue.rows is None


def test_a_model_has_no_state_besides_its_parameters() -> None:
    _, model = task_of()
    assert list(model.buffers()) == []


def test_convolutions_see_pictures_with_the_channels_last_and_parameters_stay_as_peers_exchange_them(
    pictures: list[Picture],
) -> None:
    task, model = task_of()
    seen = list[bool]()

    def note(_module: torch.nn.Module, given: tuple[torch.Tensor]) -> None:
        seen.append(given[0].is_contiguous(memory_format=torch.channels_last))

    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_pre_hook(note)
    task.loss(model, next(task.batches(pictures, 8, seed=0))).backward()
    assert len(seen) > 4
    assert all(seen)
    assert all(parameter.is_contiguous() for parameter in model.parameters())
    assert all(parameter.grad is None or parameter.grad.is_contiguous() for parameter in model.parameters())


def test_a_probe_measures_on_samples_that_it_was_not_fitted_to() -> None:
    torch.manual_seed(0)
    labels = torch.arange(200) // 2 % 4  # the same classes at even and odd places
    features = torch.randn(200, 5) * 0.1 + torch.nn.functional.one_hot(labels, 5)
    assert probe(features, labels) > 0.95
    assert probe(torch.randn(200, 80), torch.randint(4, (200,))) < 0.5
    assert probe(torch.zeros(0, 1), torch.zeros(0, dtype=torch.long)) != 0


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"data": TextData((FILE,))}, "$.data.type"),
        ({"task": Swav(large_crop=16, small_crop=17)}, "$.task.small_crop"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused_with_its_field(changes: dict[str, Any], field: str) -> None:
    plain = msgspec.to_builtins(msgspec.structs.replace(swav_manifest(), **changes))
    with pytest.raises(ManifestError) as raised:
        check(plain)
    assert raised.value.field == field


def test_a_task_on_text_refuses_pictures() -> None:
    plain = msgspec.to_builtins(msgspec.structs.replace(small_manifest(), data=ImageTarData((FILE,))))
    with pytest.raises(ManifestError) as raised:
        check(plain)
    assert raised.value.field == "$.data.type"


@pytest.mark.parametrize("name", ["AlbertForMaskedLM", "ResNetModel", "os"])
def test_other_models_are_refused(name: str) -> None:
    with pytest.raises(ManifestError) as raised:
        build_model(msgspec.structs.replace(swav_manifest(), model=Model(name, {})))
    assert raised.value.field == "$.model.architecture"


@pytest.fixture
def endless(pictures: list[Picture]) -> Iterator[Picture]:
    return cycle(pictures)


def test_steps_make_the_loss_smaller(endless: Iterator[Picture]) -> None:
    task, model = task_of(temperature=0.2)
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    batches = task.batches(endless, 20, seed=0)
    losses = []
    for batch in islice(batches, 30):
        optimizer.zero_grad()
        loss = task.loss(model, batch)
        loss.backward()
        losses.append(loss.detach())
        optimizer.step()
    first, last = (float(torch.stack(part).mean()) for part in (losses[:5], losses[-5:]))
    assert last < first - 0.1


def test_with_a_queue_a_microbatch_cannot_be_computed_again_by_others() -> None:
    assert Swav().is_reproducible
    assert not Swav(queue_length=64).is_reproducible

"""The projects that come with the program can be hosted."""

import re
from pathlib import Path

import pytest
import torch

from core.api.errors import UsageError
from core.host.project import load
from core.learning.model import architecture_named, build_model, count_parameters
from core.learning.tasks import TASKS
from tests.host.published_projects import NAMES, complete


@pytest.mark.parametrize("name", NAMES)
def test_a_published_project_is_complete_and_its_model_has_the_size_that_it_says(name: str, tmp_path: Path) -> None:
    manifest = complete(name, tmp_path).manifest(tmp_path / "state", ())
    kind = TASKS[type(manifest.task)].architectures[manifest.model.architecture]
    architecture = architecture_named(manifest.model.architecture, kind)
    with torch.device("meta"):
        model = architecture(architecture.config_class(**manifest.model.config))
    TASKS[type(manifest.task)].example(manifest.task, model.config)
    if said := re.search(r"([0-9.]+) million", manifest.summary):
        assert count_parameters(model) / 1e6 == pytest.approx(float(said[1]), abs=0.05)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_the_model_of_a_published_project_can_be_built(name: str, tmp_path: Path) -> None:
    manifest = complete(name, tmp_path).manifest(tmp_path / "state", ())
    assert type(build_model(manifest)).__name__ == manifest.model.architecture


def test_a_project_whose_work_nobody_can_compute_again_is_refused_with_validation(tmp_path: Path) -> None:
    project = complete("swav-resnet50", tmp_path)
    project.path.write_text(project.path.read_text().replace("validation = false", "validation = true"))
    with pytest.raises(UsageError) as raised:
        load(project.path)
    assert raised.value.message.params["field"] == "host.validation"

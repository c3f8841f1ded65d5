"""What a session does not use is not loaded."""

import subprocess
import sys

import pytest

from tests.end_to_end.machine import ROOT

_SESSION = """
import sys, tempfile
from functools import partial
from pathlib import Path
from core.learning.light_imports import loading
with loading():
    import core.trainer.build
    import core.host.build
import torch
from core.host.project import load
from core.learning.data import source_for, training_samples
from core.learning.data.source import once
from core.learning.model import build_model
from core.learning.optimizers import optimizer_factory, scheduler_factory
from core.learning.order import Order
from core.learning.tasks import task_for
from core.trainer.microbatch import Microbatches

practice = Path("resources/practice")
with tempfile.TemporaryDirectory() as folder:
    manifest = load(practice / "project.toml").manifest(Path(folder), ())
model = build_model(manifest)
task = task_for(manifest, model.config, practice / "tokenizer.json")
optimizer = optimizer_factory(manifest.training.optimizer)(model.parameters())
scheduler = scheduler_factory(manifest.training.schedule)(optimizer)
source = source_for(manifest.data)
samples = partial(training_samples, manifest.data, sorted(practice.glob("train-*.txt")))
microbatches = Microbatches(Order(task, samples, 4, "run", b"peer"), model, torch.device("cpu"))
for _ in range(2):
    assert microbatches.compute(0, 0).flops_per_sample
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
task.evaluate(model, once(source, practice / "held-out.txt"))
print(*sys.modules)
"""

_ARCHITECTURES = """
from core.learning.light_imports import loading
with loading():
    from core.learning.model import architecture_named
    from core.learning.tasks import TASKS
for task in TASKS.values():
    for name, kind in task.architectures.items():
        assert architecture_named(name, kind).__name__ == name
"""

_META_KERNEL = """
from core.learning.light_imports import loading
with loading():
    import torch
    from core.learning.model_size import check_memory
from transformers import PretrainedConfig

class Distances(torch.nn.Module):
    def __init__(self):
        super().__init__()
        corners = torch.ones(2, 2)
        self.weight = torch.nn.Parameter(torch.cdist(corners, corners))
    def tie_weights(self, **_): pass

check_memory(Distances, PretrainedConfig(), 16)
"""

_UNUSED = (
    "pytorch_optimizer.optimizer.adamw",
    "scipy.linalg",
    "sympy",
    "torch._decomp",
    "torch._dynamo.eval_frame",
    "torch._inductor",
    "torch._meta_registrations",
    "torch.distributed.tensor",
    "transformers.feature_extraction_utils",
)


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The modules of a process that has learned, and evaluated what it learned."""
    return set(run(_SESSION).split())


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("module", _UNUSED)
def test_a_session_loads_nothing_that_it_does_not_use(loaded: set[str], module: str) -> None:
    assert module not in loaded


def test_it_has_what_it_uses(loaded: set[str]) -> None:
    assert {"transformers.models.albert.modeling_albert", "pytorch_optimizer.optimizer.lamb", "hivemind"} <= loaded


def test_a_model_that_needs_a_rare_kernel_to_be_measured_can_be_measured() -> None:
    """torch's are loaded without those for tensors that have no values; this model's constructor needs one of them."""
    run(_META_KERNEL)


def test_every_model_can_be_loaded_all_the_same() -> None:
    run(_ARCHITECTURES)

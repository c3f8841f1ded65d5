"""`python -m core.host.self_test`: one microbatch of the practice project on this machine, with a GPU if torch has one.

It shows that the installed libraries load and compute before they are used.
"""

import sys
import tempfile
from pathlib import Path

import hivemind
import torch

import core
from core.api.project.manifest import Manifest
from core.host.project import load
from core.learning.model import build_model
from core.learning.tasks import TASKS

_PRACTICE = Path(core.__file__).parents[1] / "resources" / "practice" / "project.toml"


def train_one_microbatch(manifest: Manifest, device: torch.device) -> float:
    """The loss of the manifest's model on an example, after one step of gradient descent on it."""
    model = build_model(manifest)
    model.to(device=device)  # type: ignore[call-arg]  # transformers hides torch's signature
    example = TASKS[type(manifest.task)].example(manifest.task, model.config)
    batch = {name: value.to(device) for name, value in example.items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    model(**batch).loss.backward()
    optimizer.step()
    with torch.no_grad():
        return float(model(**batch).loss)


def main() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with tempfile.TemporaryDirectory() as folder:
        loss = train_one_microbatch(load(_PRACTICE).manifest(Path(folder), ()), device)
    if not loss > 0:
        sys.exit(f"error: the loss of a microbatch on {device.type} is {loss}")
    print(f"torch {torch.__version__}, hivemind {hivemind.__version__}: loss {loss:.2f} on {device.type}")


if __name__ == "__main__":
    main()

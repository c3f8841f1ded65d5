"""Makes a volunteer's trainer hostile, when this folder is on PYTHONPATH: once a file is there, all it sends is NaN.

The file is named by HOSTILE_WHEN.
"""

import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

_TARGET = "core.swarm.all_reduce.runner"


class _Finder:
    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if name != _TARGET:
            return None
        sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _make_hostile(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _make_hostile(module: ModuleType) -> None:
    import torch
    from hivemind.compression import deserialize_torch_tensor, serialize_torch_tensor

    send = module.AtomicAllReduce._generate_input_for_peer

    async def broken(self, peer_index):  # type: ignore[no-untyped-def]
        is_attacking = Path(os.environ["HOSTILE_WHEN"]).exists()  # noqa: ASYNC240 - a look into a folder in memory
        async for part in send(self, peer_index):
            if is_attacking:
                changed = torch.full_like(deserialize_torch_tensor(part.tensor_part), float("nan"))
                part.tensor_part.CopyFrom(serialize_torch_tensor(changed, part.tensor_part.compression))
            yield part

    module.AtomicAllReduce._generate_input_for_peer = broken


if "HOSTILE_WHEN" in os.environ:
    sys.meta_path.insert(0, _Finder)

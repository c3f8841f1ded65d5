"""Spoils the state of a run from outside: each process that has this in its PYTHONPATH disarranges all parameters once,
with the update of the epoch that is written in the file SPOILT_EPOCH. So all peers have the same spoilt state."""

import importlib.util
import os
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

_MODULE = "core.swarm.averaging.state_averager"


class _Spoiling(MetaPathFinder):
    def find_spec(self, name: str, *_: Any) -> Any:
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            _spoil(module.CheckedStateAverager)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _spoil(averager: Any) -> None:
    step, file = averager.step, Path(os.environ["SPOILT_EPOCH"])

    def spoiling(self: Any, *args: Any, increment_epoch: bool = False, **options: Any) -> Any:
        result = step(self, *args, increment_epoch=increment_epoch, **options)
        if increment_epoch and file.exists() and self.local_epoch == int(file.read_text()):
            # The optimizer has copies of its own.
            own = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
            for parameter in {each.data_ptr(): each for each in (*self.main_parameters, *own)}.values():
                parameter.data.copy_(10.0 * parameter.data.flatten().flip(0).view_as(parameter))
        return result

    averager.step = spoiling


if "SPOILT_EPOCH" in os.environ:
    sys.meta_path.insert(0, _Spoiling())

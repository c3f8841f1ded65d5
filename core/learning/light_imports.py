"""Loads the learning libraries without what no session uses of them: half of the seconds of a start, and a hundred
megabytes in each process.

What is needed after all loads then. A test fails when a library changes so that this happens in every session.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any, TypeVar, Unpack

from core.system.deferred_imports import defer

_META_KERNELS = "torch._meta_registrations"
Built = TypeVar("Built")


@contextmanager
def loading() -> Iterator[None]:
    """A context in which a process imports everything that it will need, before it forks."""
    # Nothing here becomes garbage, and the collector would take a tenth of the time.
    gc.disable()
    _defer_unused()
    yield
    # The collector writes to each object that it looks at: forked processes would get copies of all of them.
    gc.freeze()
    gc.enable()


def _defer_unused() -> None:
    # The registries of all models and of all optimizers. Who needs one imports its own module.
    defer("transformers", __version__=version("transformers"))
    defer("transformers.models")
    # It loads the registry again, and models want no more of it than this.
    defer("transformers.processing_utils", Unpack=Unpack)
    defer("pytorch_optimizer", __version__=version("pytorch_optimizer"))
    defer("pytorch_optimizer.optimizer")
    defer("pytorch_optimizer.optimizer.utils")
    # hivemind divides a group's work with it, in a function that is replaced; transformers detects objects.
    defer("scipy.optimize", calls=("linear_sum_assignment",))
    _torch_without_meta_kernels()
    import torch

    # torch's compiler, with SymPy. Where nothing is compiled, this is all that libraries ask of it.
    defer(
        "torch._dynamo",
        disable=_undecorated,
        allow_in_graph=_undecorated,
        assume_constant_result=_undecorated,
        graph_break=lambda **_: None,
    )
    # The shapes that it does not know yet, which torch asks for also where all are known.
    defer("torch.fx.experimental.symbolic_shapes", expect_true=bool)
    _without_distributed(torch.distributed)


def _torch_without_meta_kernels() -> None:
    """Import torch without what it has in Python for tensors that have a shape and no values: a tenth of a second and
    12 MiB. The kernels in C++ are enough for most models; `with_meta_kernels` imports the others."""
    if "torch" in sys.modules:
        return
    sys.modules[_META_KERNELS] = ModuleType(_META_KERNELS)
    import torch

    del sys.modules[_META_KERNELS], torch._meta_registrations
    # They import it, and `torch.Generator` needs it.
    import_module("torch._prims.rng_prims")


def with_meta_kernels(build: Callable[[], Built]) -> Built:
    """What `build` makes on torch's meta device, with all kernels if those that are loaded are not enough."""
    try:
        return build()
    except NotImplementedError:
        import_module(_META_KERNELS)
        return build()


def _undecorated(function: Any = None, *_: object, **_options: object) -> Any:
    return _undecorated if function is None else function


def _without_distributed(distributed: Any) -> None:
    """Let transformers work as with a torch that was built without `torch.distributed`: its tensors take half a second.

    transformers remembers the answer.
    """
    is_available = distributed.is_available
    distributed.is_available = lambda: False
    try:
        from transformers.utils import import_utils

        import_utils.is_torch_distributed_available()
    finally:
        distributed.is_available = is_available

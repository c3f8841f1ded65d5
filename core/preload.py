"""Importing this module loads what trainers and backbones use. A fork server does it once for all of them."""

from core.learning.light_imports import loading

with loading():
    import core.host.build
    import core.trainer.build  # noqa: F401

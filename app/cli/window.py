"""`idlehive` alone: the window and the tray icon."""

import gc
import os
import sys
from collections.abc import Mapping

from core.api.errors import WorldError


def has_display(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether Qt would find a screen; asked first, because Qt ends the whole process if it does not."""
    if platform == "darwin" or environment.get("QT_QPA_PLATFORM", "").split(":")[0] in ("offscreen", "minimal", "vnc"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def run(arguments: list[str]) -> int:
    """Open the app.

    Raises:
        WorldError: no display, or no Qt.
    """
    if not has_display(os.environ):
        raise WorldError("display_missing")
    gc.disable()  # nothing that loads becomes garbage
    try:
        from app.window.application import open_app
    except ImportError as error:
        raise WorldError("window_not_opened", detail=str(error)) from error
    finally:
        gc.enable()
    return open_app(arguments)

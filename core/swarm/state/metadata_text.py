"""A state's metadata as text, as checkpoints and local copies keep them on disk."""

import json
from collections.abc import Mapping
from typing import Any

from core.api.errors import WorldError


def to_text(metadata: Mapping[str, Any]) -> dict[str, str]:
    """What `from_text` needs besides the epoch."""
    return {
        "optimizer": json.dumps(metadata["optimizer_metadata"]),
        "updates": json.dumps(metadata.get("updates", [])),
    }


def from_text(epoch: int, kept: Mapping[str, str]) -> dict[str, Any]:
    """The metadata, in hivemind's form.

    Raises:
        WorldError: they are damaged.
    """
    # Local copies of earlier versions name the updates "trail".
    updates = kept.get("updates") or kept.get("trail", "[]")
    return {"epoch": epoch, "optimizer_metadata": _list(kept.get("optimizer", "")), "updates": _list(updates)}


def _list(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, list):
        raise WorldError("copy_damaged")
    return value

"""Reads untrusted JSON strictly, so that its values mean the same to every reader.

Parsers differ on repeated keys, `NaN`, huge numbers and lone surrogates, and report deep nesting without a place. All
of it is refused here, with its JSON path.
"""

import json
import math
from typing import Any

from core.api.errors import ManifestError

_DEEPEST = 16
_INTEGERS = range(-(1 << 63), 1 << 64)


class _Repeated(str):
    """Replaces an object in which this key appears twice, until `check` finds it and knows its path."""

    __slots__ = ()


def read(text: bytes, most_bytes: int) -> Any:
    """Parse `text`.

    Raises:
        ManifestError: too large, not UTF-8, not JSON, or not plain.
    """
    if len(text) > most_bytes:
        raise ManifestError("document_too_large", most=most_bytes)
    try:
        value = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_object)
    except UnicodeDecodeError:
        raise ManifestError("not_unicode") from None
    except json.JSONDecodeError as error:
        raise ManifestError("not_json", detail=error.msg, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise ManifestError("nested_too_deep", most=_DEEPEST) from None
    except ValueError:  # the interpreter's own limit on digits
        raise ManifestError("number_too_long") from None
    check(value)
    return value


def check(value: Any, path: str = "$", depth: int = 0) -> None:
    """Refuse what is not plain, anywhere in `value`.

    Raises:
        ManifestError: names the first such place.
    """
    if depth > _DEEPEST:
        raise ManifestError("nested_too_deep", path, most=_DEEPEST)
    if isinstance(value, _Repeated):
        raise ManifestError("given_twice", f"{path}.{printable(value)}")
    if isinstance(value, dict):
        for key, item in value.items():
            _check_string(key, path)
            check(item, f"{path}.{printable(key)}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check(item, f"{path}[{index}]", depth + 1)
    else:
        _check_leaf(value, path)


def printable(text: str) -> str:
    """An untrusted string made safe for a sentence: short, and without control characters."""
    shown = text if len(text) <= 80 else text[:79] + "…"
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in shown)


def _object(pairs: list[tuple[str, Any]]) -> Any:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            return _Repeated(key)
        seen[key] = value
    return seen


def _check_leaf(value: Any, path: str) -> None:
    if isinstance(value, str):
        _check_string(value, path)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ManifestError("number_not_finite", path)
    elif isinstance(value, int) and value not in _INTEGERS:
        raise ManifestError("integer_too_large", path)
    elif value is not None and not isinstance(value, int | float):
        raise ManifestError("not_plain", path, type=type(value).__name__)


def _check_string(text: str, path: str) -> None:
    # These end in terminals and windows: an escape sequence in a project's name must not reach them.
    if any((letter < " " and letter not in "\n\t") or "\x7f" <= letter <= "\x9f" for letter in text):
        raise ManifestError("control_character", path)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ManifestError("lone_surrogate", path)

"""JSON from processes that may be confused or hostile."""

from typing import TypeVar

import msgspec

Value = TypeVar("Value")


def decode(decoder: "msgspec.json.Decoder[Value]", text: bytes) -> Value:
    """What `text` spells.

    Raises:
        msgspec.DecodeError: it is not what the decoder knows. That includes nesting without end, which msgspec itself
            reports as RecursionError.
    """
    try:
        return decoder.decode(text)
    except RecursionError:
        raise msgspec.DecodeError("It is nested too deep") from None

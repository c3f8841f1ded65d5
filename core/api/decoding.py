"""Decodes JSON from processes that are not trusted."""

from typing import TypeVar

import msgspec

Value = TypeVar("Value")


def decode(decoder: "msgspec.json.Decoder[Value]", text: bytes) -> Value:
    """Decode `text`.

    Raises:
        msgspec.DecodeError: `text` has another form, or nests so deeply that msgspec raises RecursionError.
    """
    try:
        return decoder.decode(text)
    except RecursionError:
        raise msgspec.DecodeError("It is nested too deep") from None
    except UnicodeDecodeError:
        raise msgspec.DecodeError("It is not UTF-8 text") from None

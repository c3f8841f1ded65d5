"""A message for people as data: a kind and its parameters. Only `app.text.messages` words it."""

from collections.abc import Mapping, Sequence

import msgspec


class Message(msgspec.Struct, frozen=True):
    """A reason, a failure, a remark or an event. The parameter `detail` is a library's raw text."""

    kind: str
    params: Mapping[str, "Param"] = {}

    def __str__(self) -> str:
        """For logs: `disk_full path=/data`."""
        return " ".join([self.kind, *(f"{name}={_logged(value)}" for name, value in self.params.items())])


Param = str | int | float | bool | Message | Sequence[str | Message] | None
"""Numbers are bytes, seconds, bytes per second or UTC seconds; the kind decides which."""


def _logged(value: "Param") -> str:
    if isinstance(value, Message):
        return f"({value})"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)

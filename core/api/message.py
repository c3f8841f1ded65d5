"""What a person is told, as data: a kind and its parameters. Only `app.text.messages` makes sentences of it."""

from collections.abc import Mapping, Sequence

import msgspec


class Message(msgspec.Struct, frozen=True):
    """A reason, a failure, a remark or an event. `detail` among the parameters is a library's own, raw words."""

    kind: str
    params: Mapping[str, "Param"] = {}

    def __str__(self) -> str:
        """For logs: `disk_full path=/data`."""
        return " ".join([self.kind, *(f"{name}={_logged(value)}" for name, value in self.params.items())])


Param = str | int | float | bool | Message | Sequence[str | Message] | None
"""A number is in the contract's units (bytes, seconds, bytes per second, UTC seconds); the wording says which."""


def _logged(value: "Param") -> str:
    if isinstance(value, Message):
        return f"({value})"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return str(value)

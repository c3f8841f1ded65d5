"""What a person is told, as data: a kind and its parameters. Only `app.text.messages` makes sentences of it."""

import msgspec

Param = str | int | float | bool | list[str] | None
"""A number is in the contract's units (bytes, seconds, bytes per second, UTC seconds); the wording says which."""


class Message(msgspec.Struct, frozen=True):
    """A reason, a failure, a remark or an event. `detail` among the parameters is a library's own, raw words."""

    kind: str
    params: dict[str, Param] = {}

    def __str__(self) -> str:
        """For logs: `disk_full path=/data`."""
        return " ".join([self.kind, *(f"{name}={value}" for name, value in self.params.items())])

"""What the engine tells the process of `core.release`, and what it answers: lines of JSON."""

import msgspec

from core.api.installation.release import Step
from core.api.message import Message
from core.api.proxy import Proxy
from core.release.signed import Release


class Order(msgspec.Struct, frozen=True):
    address: str
    """Of the release file."""
    keys: tuple[str, ...]
    """Of which one must have signed it."""
    least: int
    """The highest number of a release file that was ever seen."""
    package: str
    root: str
    """The folder of the present build."""
    folder: str
    """Where a package for an administrator is put."""
    proxy: Proxy = Proxy()


class Progress(msgspec.Struct, frozen=True, tag=True):
    step: Step
    done: int
    """Bytes."""


class Done(msgspec.Struct, frozen=True, tag=True):
    release: Release | None = None
    file: str = ""
    failure: Message | None = None


answers: msgspec.json.Decoder[Progress | Done] = msgspec.json.Decoder(Progress | Done)

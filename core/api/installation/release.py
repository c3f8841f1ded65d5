"""New versions of Idlehive, as their publisher's signed release file names them.

Only a package that names a publisher looks for them; a checkout does not.
"""

from typing import Literal

import msgspec

from core.api.message import Message

Step = Literal["checking", "downloading", "installing"]


class Offer(msgspec.Struct, frozen=True):
    """A version that is newer than the one that runs. Its signature was verified."""

    version: str
    changelog: str
    """Plain English text of several lines."""
    size: int
    """Bytes to download."""


class ReleaseStatus(msgspec.Struct, frozen=True):
    """What is known of new versions. Times are UTC seconds, sizes are bytes."""

    package: str = ""
    """Kind of this package, as in `package.json`; empty: nobody is named who publishes new versions."""
    checked_at: float | None = None
    """When the publisher was last asked, with or without success."""
    offer: Offer | None = None
    step: Step | None = None
    """Of what runs."""
    done: int = 0
    """Bytes, of `offer.size`."""
    installed: bool = False
    """What was offered has replaced this build; all that runs starts again."""
    file: str = ""
    """Path of a downloaded and verified package, which an administrator installs."""
    failure: Message | None = None
    """Why the last check or installation failed."""


class CheckRelease(msgspec.Struct, frozen=True, tag=True):
    """Ask the publisher now. Reply: null, once the check has begun."""


class InstallRelease(msgspec.Struct, frozen=True, tag=True):
    """Download and verify what is offered. A portable build is then replaced and starts again; a Debian package is
    named in `file`. Reply: null, once it has begun.
    """


ReleaseCommand = CheckRelease | InstallRelease

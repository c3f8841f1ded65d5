"""The compute runtime: the libraries that training needs, which a package installs into the profile.

A checkout has them in its own environment: there is no compute runtime then.
"""

from typing import Literal

import msgspec

from core.api.message import Message

Build = Literal["cpu", "cuda"]
"""Of torch: for the processor alone, or for NVIDIA's graphics cards too."""
Step = Literal["install_wsl", "import", "convert", "unpack", "preparing", "downloading", "compiling", "testing"]
"""The first four on Windows alone (`core.client.wsl`)."""


class ComputeRuntime(msgspec.Struct, frozen=True):
    """What there is of it, and what is being installed. Units: bytes, seconds."""

    ready: bool = False
    build: Build = "cpu"
    """Installed, or to be installed on this machine."""
    step: Step | None = None
    """Of the installation that runs."""
    done: int = 0
    """Bytes on the disk, of `total`."""
    total: int = 0
    time_left: float | None = None
    """None: not known yet."""
    failure: Message | None = None
    """Why the last installation failed."""
    retry_at: float | None = None
    """UTC seconds of the next attempt; None: it waits for the volunteer."""
    removed: bool = False
    """By the volunteer: it is installed again only when they ask for it."""
    needs_consent: bool = False
    """It runs in a Linux of its own (WSL), which is set up only after the volunteer has agreed."""
    gpus: tuple[str, ...] | None = None
    """Names of the graphics cards that reach this Linux; None: not in WSL, or not set up yet."""


class InstallRuntime(msgspec.Struct, frozen=True, tag=True):
    """Install it, or what it lacks. Reply: null, once the installation has begun or is not needed."""

    repair: bool = False
    """Install it again, although it is there; the present one is used until the new one is ready."""
    agreed: bool = False
    """The volunteer agrees that WSL is set up."""


class RemoveRuntime(msgspec.Struct, frozen=True, tag=True):
    """End the session and delete it. Reply: null; it is deleted after the session."""

    only_stop: bool = False
    """Stop the installation that runs and keep what was installed before."""


RuntimeCommand = InstallRuntime | RemoveRuntime

"""What removing everything has deleted."""

import msgspec


class Removed(msgspec.Struct, frozen=True):
    """What is gone, and what is not."""

    paths: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """In the keyring: of projects by their id, of preferences by their name."""
    kept: tuple[str, ...] = ()
    """Paths that could not be deleted."""

"""What removing everything has deleted."""

import msgspec


class Removed(msgspec.Struct, frozen=True):
    """Paths, and ids of projects."""

    paths: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """Projects whose invites were in the keyring."""
    kept: tuple[str, ...] = ()
    """Paths that could not be deleted."""

"""How front ends reach the engine of this machine: the contract's lines are the same on every system."""

import sys

if sys.platform == "win32":
    from core.client.loopback_socket import connect, is_of_another_user, serve
else:
    from core.client.unix_socket import connect, is_of_another_user, serve

__all__ = ["connect", "is_of_another_user", "serve"]

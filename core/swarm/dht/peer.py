"""A place in the swarm: the DHT process, its libp2p daemon and who can be reached through them."""

import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hivemind import DHT
from hivemind.dht.schema import RSASignatureValidator
from hivemind.p2p import P2P
from hivemind.p2p.p2p_daemon_bindings.utils import P2PDaemonError
from hivemind.utils.mpfuture import InvalidStateError

from core.api.errors import WorldError
from core.api.message import Message
from core.swarm.dht.node import REPLICAS
from core.swarm.dht.record_limits import ReadableRecords, RecordLimits
from core.system.atomic_file import write_atomically

_STARTUP_TIMEOUT = 60.0
"""Seconds for the daemon: a busy machine easily needs more than hivemind's 15."""

_SHUTDOWN_TIMEOUT = 1.0
"""Averagers that end leave messages behind that cost the DHT process three seconds each; nobody needs to wait."""

_BLACKLIST_TIME = 30.0
"""Seconds for which a peer that gave no answer is not asked again; they double each time. With hivemind's 5, lookups
wait three seconds, again and again, for each peer that is away, and an announcement of a peer that looks for a group
lasts hardly longer."""

_NO_CACHE = {
    "cache_locally": False,
    "cache_nearest": 0,
    "cache_on_store": False,
    "cache_refresh_before_expiry": 0,
}
"""Everything here asks for the latest value, which no cache can know; hivemind would only fetch again what it has
found, as soon as that is about to expire: an announcement of a peer that looks for a group always is."""

LOOPBACK = "/ip4/127.0.0.1/tcp/0"


def join_swarm(
    initial_peers: Sequence[str],
    identity: Path,
    listen: str | Sequence[str] | None = LOOPBACK,
    announce: str | Sequence[str] = (),
    *,
    maps_port: bool = False,
    most_connected: int | None = None,
) -> DHT:
    """Start a peer. `listen` has the multiaddresses to serve on; None reaches out only (client mode). Others are told
    those in `announce`, or else where it listens.

    With `maps_port` the daemon asks the router for a port by UPnP or NAT-PMP, renews that three times a minute, and
    gives it back when it ends; killed, the router forgets it after a minute.

    `most_connected` others may be connected to it, in place of `IN_ALL`.

    Relaying is off: hivemind would carry strangers' traffic.

    Raises:
        WorldError: the daemon does not start, or none of `initial_peers` answers.
    """
    _ensure_identity(identity)
    addresses = _listed(listen or ())
    client_mode = not addresses
    dht = DHT(
        initial_peers=list(initial_peers) or None,
        start=False,
        client_mode=client_mode,
        host_maddrs=addresses,
        no_listen=client_mode,
        announce_maddrs=_listed(announce) or None,
        identity_path=str(identity),
        check_if_identity_free=False,
        num_replicas=REPLICAS,
        # A run adds its own only later. Until then this peer would keep records without a signature, and others refuse
        # every answer that has one.
        record_validators=[RecordLimits(), ReadableRecords(), RSASignatureValidator()],
        use_relay=False,
        auto_nat=False,
        nat_port_map=maps_port,
        startup_timeout=_STARTUP_TIMEOUT,
        shutdown_timeout=_SHUTDOWN_TIMEOUT,
        blacklist_time=_BLACKLIST_TIME,
        **_NO_CACHE,
        **({} if most_connected is None else {"most_connected": most_connected}),
    )
    try:
        dht.run_in_background(await_ready=True, timeout=_STARTUP_TIMEOUT + 10)
    except (P2PDaemonError, RuntimeError, OSError, TimeoutError, InvalidStateError) as error:
        dht.terminate()
        dht.join()
        raise WorldError(_why_not_joined(str(error), initial_peers, addresses)) from error
    return dht


def _ensure_identity(file: Path) -> None:
    """Make a key if there is none. hivemind writes into the file itself and leaves half a key if it is killed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        return
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".key-") as folder:
        fresh = Path(folder, "key")
        P2P.generate_identity(str(fresh))
        write_atomically(file, fresh.read_bytes())


def _why_not_joined(error: str, initial_peers: Sequence[str], addresses: Sequence[str]) -> Message:
    if "address already in use" in error or "failed to listen" in error:
        return Message("address_in_use", {"address": addresses[0]})
    if initial_peers:
        return Message("peers_not_reached")
    return Message("daemon_not_started", {"detail": error})


def listen_addresses(initial_peers: Sequence[str], port: int, *, maps_port: bool = False) -> tuple[str, ...]:
    """Where a volunteer's peer listens: on loopback for a run that lives there, else on the port that the volunteer has
    opened for it, or any free port if the router maps it, and nowhere (client mode) without one."""
    if all(address.startswith("/ip4/127.") for address in initial_peers):
        return (LOOPBACK,)
    if maps_port and not port:
        # The same for IPv4 and IPv6: the router would be asked for both.
        port = _free_port()
    return on_all_interfaces(port) if port else ()


def on_all_interfaces(port: int) -> tuple[str, ...]:
    """On all addresses of this computer. Where there is no IPv6, the daemon leaves that out."""
    return f"/ip4/0.0.0.0/tcp/{port}", f"/ip6/::/tcp/{port}"


def multiaddress(address: str, port: int) -> str:
    """Of a TCP port at an IP address."""
    return f"/ip{6 if ':' in address else 4}/{address}/tcp/{port}"


def _listed(addresses: str | Sequence[str]) -> list[str]:
    return [addresses] if isinstance(addresses, str) else list(addresses)


def port_of(listen: Sequence[str]) -> int:
    """The TCP port of `on_all_interfaces`, or of another multiaddress that ends with one."""
    return int(listen[0].rsplit("/", 1)[1])


def _free_port() -> int:
    with socket.create_server(("", 0)) as server:
        return int(server.getsockname()[1])


def own_addresses(dht: DHT) -> list[str]:
    """Multiaddresses under which others can reach this peer, with its peer id."""
    return [str(address) for address in dht.get_visible_maddrs()]

"""Whether other peers reach this computer, and what to do if they do not."""

import shutil
import subprocess
from pathlib import Path

from app.cli.console.connection import running
from app.cli.doctor.checks import TIMEOUT, Finding, Level
from app.text import status
from app.text.formats.sentences import closed
from app.text.i18n import tr
from core.api.errors import IdlehiveError
from core.api.protocol import GetSnapshot
from core.api.snapshot import Snapshot
from core.client.profile import Profile

_EXAMPLE_PORT = 31330
UFW = Path("/etc/ufw/ufw.conf")


def reachable(profile: Profile) -> Finding:
    """What the present session found out."""
    try:
        with running(profile) as engine:
            snapshot = engine.request(GetSnapshot(), Snapshot, timeout=TIMEOUT) if engine else Snapshot("idle")
    except IdlehiveError:  # the engine's own check reports it
        snapshot = Snapshot("idle")
    if not (known := status.reachability(snapshot)):
        unknown = tr("Unknown until this computer contributes to a project on other computers.")
        return Finding("reachable", "ok", unknown)
    level: Level = "warn" if snapshot.reachability == "blocked" else "ok"
    return Finding("reachable", level, closed(known), advice(snapshot))


def advice(snapshot: Snapshot) -> str:
    """What would make it reachable; empty if nothing is to be done."""
    match snapshot.reachability:
        case "blocked":
            port = snapshot.settings.listen_port
            fixed = tr("`idlehive limits set listen_port {port}` gives it a fixed port.", port=_EXAMPLE_PORT)
            return ("" if port else f"{fixed} ") + _firewall_hint(port or _EXAMPLE_PORT)
        case "second_router":
            return tr(
                "You need not do anything. Others could connect if the first router worked as a bridge, or over"
                " IPv6. If the other router belongs to your provider, it can give you an IPv4 address of your own."
            )
        case "no_mapping":
            return tr(
                "Switch on UPnP or NAT-PMP in the router, or forward a port to this computer and name it with"
                " `idlehive limits set listen_port`."
            )
        case "outgoing" if snapshot.settings.port_mapping == "ask":
            return tr("`idlehive limits set port_mapping yes` lets the router open a port while contributing.")
        case _:
            return ""


def _firewall_hint(port: int) -> str:
    match firewall():
        case "ufw":
            return tr("The firewall lets connections in after: {command}", command=f"sudo ufw allow {port}/tcp")
        case "firewalld":
            command = f"sudo firewall-cmd --permanent --add-port={port}/tcp && sudo firewall-cmd --reload"
            return tr("The firewall lets connections in after: {command}", command=command)
        case _:
            return tr("A router or firewall has to pass on TCP port {port} to this computer.", port=port)


def firewall() -> str | None:
    """The one that is active here, as far as that is visible without privileges."""
    if UFW.exists() and "ENABLED=yes" in UFW.read_text():
        return "ufw"
    if (command := shutil.which("firewall-cmd")) and _answers([command, "--state"]):
        return "firewalld"
    return None


def _answers(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False

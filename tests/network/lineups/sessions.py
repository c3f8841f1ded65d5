"""Whole sessions on hosts of their own."""

import json
import subprocess
import sys
from typing import Any

from tests.end_to_end.machine import Machine, Participant
from tests.end_to_end.organiser import Organiser
from tests.network.namespaces import Host

PORT = "31001"
"""Of a volunteer who has opened one."""
_READ = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())"


def organiser_on(host: Host, machine: Machine, **changes: Any) -> Organiser:
    """A backbone that serves; `changes` are lines of its project that are otherwise."""
    organiser = Organiser(machine, "organiser", at=host.command(), address=host.address, **changes)
    organiser.start()
    return organiser


def volunteer_on(host: Host, machine: Machine, **preferences: Any) -> Participant:
    """A volunteer who has set these and does nothing yet."""
    volunteer = machine.profile(host.namespace, at=host.command())
    for name, value in preferences.items():
        done = volunteer.run("limits", "set", name, str(value))
        assert done.returncode == 0, done.stderr
    return volunteer


def published_by(at: Host, organiser: Organiser, page: str) -> Any:
    """A page of its web server, asked for on that host."""
    command = at.command(sys.executable, "-c", _READ, organiser.url.replace("manifest.json", page))
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout)

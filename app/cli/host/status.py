"""host status: what a running backbone says of its run, and whom it leaves out, and why."""

import argparse
import json
import time
import urllib.error
import urllib.request
from typing import Any

from app.cli.console import output
from app.text.formats import numbers, times
from app.text.formats.amounts import epochs, peers
from app.text.i18n import N_, tr
from app.text.messages import sentence
from core.api.errors import WorldError
from core.api.message import Message

_OTHERWISE = "127.0.0.1:8330"
_LARGEST = 1 << 20
_TIMEOUT = 10.0
_COLUMNS = (N_("peer"), N_("left out since"), N_("for how long"), N_("why"))


def run(arguments: argparse.Namespace) -> int:
    """Print it. The exit code is 1 if the backbone does not serve its run.

    Raises:
        WorldError: no backbone answers.
    """
    health = _health(arguments.http or _OTHERWISE)
    if arguments.json:
        output.print_json(health)
    else:
        _print(health)
    return int(health["status"] != "ok")


def _print(health: dict[str, Any]) -> None:
    made, at_work, dropped = int(health["epoch"]), int(health["peers"]), health["dropped_peers"]
    output.say(f"{health['status']}: {epochs(made)}, {peers(at_work)}")
    if not dropped:
        output.say(tr("Nobody was left out within the last hour."))
        return
    now = time.time()
    output.print_table(
        _COLUMNS,
        [
            (
                output.printable(peer["peer"]),
                times.moment(peer["at"], now),
                numbers.duration(peer["seconds"]),
                output.printable(sentence(Message(peer["reason"]))),
            )
            for peer in dropped
        ],
    )


def _health(address: str) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(f"http://{address}/health.json", timeout=_TIMEOUT) as answer:
            return _read(answer)
    except urllib.error.HTTPError as answer:
        # It starts, or its DHT is silent.
        with answer:
            return _read(answer)
    except (OSError, ValueError) as error:
        raise WorldError("backbone_silent", address=address) from error


def _read(answer: Any) -> dict[str, Any]:
    health: dict[str, Any] = json.loads(answer.read(_LARGEST))
    return health

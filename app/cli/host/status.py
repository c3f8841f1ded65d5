"""host status: what a running backbone says of its run, and whom it leaves out, and why."""

import argparse
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Annotated

import msgspec
from msgspec import Meta

from app.cli.console import output
from app.text.formats import numbers, times
from app.text.formats.amounts import epochs, peers
from app.text.i18n import N_, tr
from app.text.messages import sentence
from core.api.decoding import decode
from core.api.errors import WorldError
from core.api.message import Message

_OTHERWISE = "127.0.0.1:8330"
_LARGEST = 1 << 20
_TIMEOUT = 10.0
_COLUMNS = (N_("peer"), N_("left out since"), N_("for how long"), N_("why"))
_Seconds = Annotated[float, Meta(ge=0, le=1e11)]


class _Dropped(msgspec.Struct):
    peer: str
    reason: str
    at: _Seconds
    seconds: _Seconds


class _Health(msgspec.Struct):
    """What is printed of it."""

    status: str
    epoch: int
    peers: int
    dropped_peers: list[_Dropped]


_health_decoder = msgspec.json.Decoder(_Health)
_any_decoder = msgspec.json.Decoder()


def run(arguments: argparse.Namespace) -> int:
    """Print it. The exit code is 1 if the backbone does not serve its run.

    Raises:
        WorldError: no backbone answers.
    """
    address = arguments.http or _OTHERWISE
    try:
        said = _ask(address)
        health, whole = decode(_health_decoder, said), decode(_any_decoder, said)
    except (OSError, HTTPException, ValueError, msgspec.DecodeError) as error:
        # Another server may have the address, and answer what it likes.
        raise WorldError("backbone_silent", address=address) from error
    if arguments.json:
        output.print_json(whole)
    else:
        _print(health)
    return int(health.status != "ok")


def _print(health: _Health) -> None:
    output.say(output.printable(f"{health.status}: {epochs(health.epoch)}, {peers(health.peers)}"))
    if not health.dropped_peers:
        output.say(tr("Nobody was left out within the last hour."))
        return
    now = time.time()
    output.print_table(
        _COLUMNS,
        [
            (
                output.printable(peer.peer),
                times.moment(peer.at, now),
                numbers.duration(peer.seconds),
                output.printable(sentence(Message(peer.reason))),
            )
            for peer in health.dropped_peers
        ],
    )


def _ask(address: str) -> bytes:
    try:
        answer = urllib.request.urlopen(f"http://{address}/health.json", timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        # It starts, or its DHT is silent.
        answer = error
    with answer:
        said: bytes = answer.read(_LARGEST)
        return said

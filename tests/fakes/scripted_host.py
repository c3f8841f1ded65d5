"""An embedded backbone that says what a test tells it to, on the real wire (`core.api.hosting`).

It serves a manifest and a learning curve over HTTP on loopback and ends when its stdin closes. `SCRIPTED_HOST` may name
a JSON file in the form of `Script`.
"""

import http.server
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec

from core.api.hosting import HostReport, Serving, encode
from core.api.message import Message
from core.api.session import Fault

VARIABLE = "SCRIPTED_HOST"


class Script(msgspec.Struct, frozen=True):
    fault: str | None = None
    """Kind of the failure that it sends in place of serving."""
    stays: bool = False
    """Does not end when its stdin closes."""
    hears: str | None = None
    """File to which every command it gets is appended, as JSON lines."""


def manifest(**changes: Any) -> dict[str, Any]:
    """A small manifest with relative URLs, as plain JSON values."""
    file = {"url": "files/a", "sha256": "0" * 64, "size": 100}
    return {
        "format": 1,
        "id": "practice",
        "name": "Practice",
        "summary": "Learns to practise.",
        "organiser": "The tests",
        "license": "CC0-1.0",
        "run_id": "practice-1",
        "model": {"architecture": "AlbertForMaskedLM", "config": {"hidden_size": 8}},
        "tokenizer": file,
        "task": {"type": "masked_language_modelling", "sequence_length": 16},
        "data": {"shards": [file]},
        "training": {
            "target_batch_size": 64,
            "microbatch_size": 4,
            "optimizer": {"type": "lamb", "learning_rate": 0.01},
        },
        "initial_peers": ["/ip4/127.0.0.1/tcp/31337/p2p/QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"],
        "curve": "curve.json",
        **changes,
    }


_FIGURE = {"kind": "perplexity", "value": 244.7}
CURVE = {"points": [{"epoch": 1, "loss": 5.0, "evaluation_loss": 5.5, "peers": 3, "figure": _FIGURE}]}


class Pages(http.server.ThreadingHTTPServer):
    """Answers each path with what `pages` has for it, 404 otherwise."""

    daemon_threads = True

    def __init__(self, pages: dict[str, bytes]) -> None:
        self.pages = pages
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Pages

    def do_GET(self) -> None:
        body = self.server.pages.get(self.path.lstrip("/"))
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        print(format % args, file=sys.stderr)


def say(report: HostReport) -> None:
    sys.stdout.buffer.write(encode(report))
    sys.stdout.buffer.flush()


def main() -> int:
    named = os.environ.get(VARIABLE)
    script = msgspec.json.decode(Path(named).read_bytes(), type=Script) if named else Script()
    if script.fault is not None:
        say(Fault(Message(script.fault)))
        return 1
    pages = Pages({"manifest.json": json.dumps(manifest()).encode(), "curve.json": json.dumps(CURVE).encode()})
    say(Serving(pages.url("manifest.json")))
    for text in sys.stdin.buffer:
        if script.hears is not None:
            with Path(script.hears).open("ab") as file:
                file.write(text)
    if script.stays:
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())

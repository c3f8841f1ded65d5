"""Projects of a test's own: the practice project under another name, with the mistake that the test is about."""

import json
import re
import shutil
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import msgspec

from core.host.project import load
from tests.end_to_end.machine import PRACTICE
from tests.fakes.http_server import Behaviour, answer

NOBODY = "/ip4/127.0.0.1/tcp/9/p2p/QmRELXz6hK8sJ3dGcV6uWq6mCqzyq3hFyCCXkb1uYWVxYH"
"""The address of a peer that does not exist."""


def project(folder: Path, **changes: str | int) -> Path:
    """A copy of the practice project whose `name = value` lines are changed; its `project.toml`."""
    copy = folder / "project"
    shutil.copytree(PRACTICE, copy)
    text = (copy / "project.toml").read_text()
    for name, value in changes.items():
        text, found = re.subn(rf"(?m)^{name} = .*$", f"{name} = {json.dumps(value)}", text, count=1)
        assert found, name
    (copy / "project.toml").write_text(text)
    return copy / "project.toml"


def manifest(description: Path, state: Path) -> dict[str, Any]:
    """What a backbone of the project would publish, with a peer that nobody can reach; plain values."""
    plain: dict[str, Any] = msgspec.to_builtins(load(description).manifest(state, (NOBODY,)))
    return plain


def site(description: Path, published: dict[str, Any], **damaged: bytes) -> Behaviour:
    """A web server's answers: `/manifest.json`, and the project's files under `/data/`, some of them damaged."""
    contents = {f"/data/{file.name}": file.path for file in load(description).files.values()}
    wrong = {path for path, file in contents.items() if file.stem.replace("-", "_") in damaged}

    def behave(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/manifest.json":
            answer(200, json.dumps(published).encode())(handler)
        elif handler.path in wrong:
            answer(200, damaged[contents[handler.path].stem.replace("-", "_")])(handler)
        elif handler.path in contents:
            answer(200, contents[handler.path].read_bytes())(handler)
        else:
            answer(404)(handler)

    return behave

"""Shards on the Hugging Face Hub, listed for a project.toml."""

import json
import subprocess
import sys
import tomllib
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import msgspec

from core.api.project.data import ParquetData
from tests.fakes.http_server import FakeServer, answer, serving

SCRIPT = Path(__file__).parents[3] / "resources" / "projects" / "hugging_face.py"


TREE = "/api/datasets/some/texts/tree/c0ffee/20%20bn"


def hub(handler: BaseHTTPRequestHandler) -> None:
    """Answers as the Hub's documentation says, with its list in two pages."""
    files = [
        {"type": "file", "path": "20 bn/train-1.parquet", "size": 5, "lfs": {"oid": "b" * 64, "size": 500}},
        {"type": "file", "path": "20 bn/README.md", "size": 5},
        {"type": "file", "path": "20 bn/train-0.parquet", "size": 5, "lfs": {"oid": "a" * 64, "size": 400}},
        {"type": "directory", "path": "20 bn/more"},
    ]
    more = f"{TREE}?cursor=bmV4dA%3D%3D&limit=2"
    pages = {
        "/api/datasets/some/texts/revision/main": ({"id": "some/texts", "sha": "c0ffee"}, {}),
        TREE: (files[:2], {"link": f'<http://{handler.headers["Host"]}{more}>; rel="next"'}),
        more: (files[2:], {}),
    }
    page, headers = pages[handler.path]
    answer(200, json.dumps(page).encode(), **headers)(handler)


def run(server: FakeServer) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "some/texts", "20 bn", "--hub", server.url("")[:-1]]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_what_the_script_prints_are_the_shards_of_a_project() -> None:
    with serving(hub) as server:
        printed = run(server).stdout
        files = msgspec.convert({"type": "parquet", **tomllib.loads(printed)}, ParquetData).shards
        assert [(file.sha256[0], file.size) for file in files] == [("a", 400), ("b", 500)]
        assert files[0].url == server.url("datasets/some/texts/resolve/c0ffee/20%20bn/train-0.parquet")


def test_a_list_that_continues_on_another_server_is_not_used() -> None:
    revision = answer(200, b'{"sha": "c0ffee"}')
    with serving(answer(200, b"[]")) as other:
        with serving(revision, answer(200, b"[]", link=f'<{other.url("more")}>; rel="next"')) as server:
            done = run(server)
        assert (done.returncode, done.stdout, other.seen) == (1, "", [])
        assert other.url("more") in done.stderr
        assert "Traceback" not in done.stderr

"""Shards on the Hugging Face Hub, listed for a project.toml."""

import json
import subprocess
import sys
import tomllib
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import msgspec

from core.api.project.data import ParquetData
from tests.fakes.http_server import answer, serving

SCRIPT = Path(__file__).parents[2] / "resources" / "projects" / "hugging_face.py"


def hub(handler: BaseHTTPRequestHandler) -> None:
    """Answers as the Hub's documentation says."""
    pages = {
        "/api/datasets/some/texts/revision/main": {"id": "some/texts", "sha": "c0ffee"},
        "/api/datasets/some/texts/tree/c0ffee/20%20bn": [
            {"type": "file", "path": "20 bn/train-1.parquet", "size": 5, "lfs": {"oid": "b" * 64, "size": 500}},
            {"type": "file", "path": "20 bn/train-0.parquet", "size": 5, "lfs": {"oid": "a" * 64, "size": 400}},
            {"type": "file", "path": "20 bn/README.md", "size": 5},
            {"type": "directory", "path": "20 bn/more"},
        ],
    }
    answer(200, json.dumps(pages[handler.path]).encode())(handler)


def test_what_the_script_prints_are_the_shards_of_a_project() -> None:
    with serving(hub) as server:
        command = [sys.executable, str(SCRIPT), "some/texts", "20 bn", "--hub", server.url("")[:-1]]
        printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        files = msgspec.convert({"type": "parquet", **tomllib.loads(printed)}, ParquetData).shards
        assert [(file.sha256[0], file.size) for file in files] == [("a", 400), ("b", 500)]
        assert files[0].url == server.url("datasets/some/texts/resolve/c0ffee/20%20bn/train-0.parquet")

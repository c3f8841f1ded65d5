"""A package whose compute runtime is installed by the real process."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from core.api.proxy import Proxy
from core.runtime.store import RuntimeStore

ROOT = Path(__file__).resolve().parents[2]
UV = """#!/bin/sh
echo "$@" >> "$UV_CACHE_DIR.asked"
echo "proxy $ALL_PROXY $HTTPS_PROXY" >> "$UV_CACHE_DIR.asked"
mkdir -p "$UV_CACHE_DIR" "$6"
echo fetched >> "$UV_CACHE_DIR/torch"
echo "marker = 'installed'" > "$6/idletest.py"
[ -n "$UV_SAYS" ] && echo "$UV_SAYS" && exit 1
[ -n "$UV_HANGS" ] && exec sleep 600
true
"""
_SELF_TEST = "import os, sys, idletest; sys.exit(int(os.environ.get('TEST_FAILS', '0')))\n"
"""It needs what was installed."""


class Package:
    """A package whose uv is the stand-in."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "package"
        self.store = RuntimeStore(folder / "compute")
        shutil.copytree(ROOT / "core", self.root / "core", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "resources" / "runtime", self.root / "resources" / "runtime")
        (self.root / "core" / "host" / "self_test.py").write_text(_SELF_TEST)
        (self.root / "package.json").write_text('{"kind": "deb"}')
        (self.root / "bin").mkdir()
        (self.root / "bin" / "uv").write_text(UV)
        (self.root / "bin" / "uv").chmod(0o755)

    def start(self, proxy: Proxy | None = None, *options: str, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "core.runtime", str(self.store.folder), *options],
            env={**os.environ, "PYTHONPATH": str(self.root), **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(proxy or Proxy()).decode() + "\n")
        process.stdin.flush()
        return process

    def install(self, proxy: Proxy | None = None, *options: str, **variables: str) -> dict[str, Any]:
        """The last status that the installation reports."""
        output, _ = self.start(proxy, *options, **variables).communicate(timeout=60)
        last: dict[str, Any] = json.loads(output.splitlines()[-1])
        return last

    def folders(self) -> list[str]:
        return sorted(entry.name.split("-")[0] for entry in self.store.folder.iterdir())

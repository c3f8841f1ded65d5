"""Stands in for the environment's python and uv, for apt-get and for the checks: notes the call, then obeys the test.

The test says in STUB_FAILURES, a JSON list of [part of the call, how often, text to print], which calls fail.
"""

import json
import os
import sys
import time
from pathlib import Path

calls_file = Path(os.environ["STUB_CALLS"])
program = Path(sys.argv[0])
call = " ".join([program.name, *sys.argv[1:]])
with calls_file.open("a", encoding="utf-8") as calls:
    calls.write(call + "\n")
for part, times, text in json.loads(os.environ.get("STUB_FAILURES", "[]")):
    seen = sum(part in line for line in calls_file.read_text(encoding="utf-8").splitlines())
    if part in call and seen <= times:
        sys.exit(text)
if os.environ.get("STUB_HANGS", "\0") in call:
    time.sleep(60)
if "config list" in call:
    print(os.environ.get("STUB_PIP_CONFIG", ""))
if call.startswith("uv pip install"):
    print("Resolved 88 packages in 1s\nDownloading torch (180.5MiB)\n Downloaded torch\nPrepared 88 packages in 1s")
    for name in ("idlehive", "ruff", "mypy", "lint-imports"):
        entry = program.parent / name
        entry.write_text((program.parent / "uv").read_text(encoding="utf-8"), encoding="utf-8")
        entry.chmod(0o755)
    (
        program.parent.parent / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "torch-2.13.0.dist-info"
    ).mkdir(exist_ok=True)
if "-m app" in call or "-m pytest" in call:
    print(call)

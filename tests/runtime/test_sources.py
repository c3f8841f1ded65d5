"""The installation with the real uv, from an index on loopback that is honest or not. Whatever fails, the next works.

The only package is a small one, and the test of the runtime prints a line: everything else is real.
"""

import hashlib
import io
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.text.messages import sentence
from core.api.message import Message
from core.api.proxy import Proxy
from tests.fakes.http_server import Behaviour, FakeServer, answer, cut, serving, stalled
from tests.runtime.given import Package
from tests.waiting import wait_for

UV = Path(sys.prefix) / "bin" / "uv"
_NAME = "idletest-1.0-py3-none-any.whl"
pytestmark = pytest.mark.skipif(not UV.exists(), reason="uv is not installed in this environment")


def wheel() -> bytes:
    """A package with a megabyte that cannot be compressed."""
    content = io.BytesIO()
    about = "idletest-1.0.dist-info"
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("idletest.bin", os.urandom(1_000_000))
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: idletest\nVersion: 1.0\n")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", f"idletest.bin,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    return content.getvalue()


class Source:
    """An index with one package. `index` and `file` are what it answers."""

    def __init__(self, stack: ExitStack) -> None:
        self.wheel = wheel()
        self.digest = hashlib.sha256(self.wheel).hexdigest()
        page = f'<!DOCTYPE html><html><body><a href="/{_NAME}#sha256={self.digest}">{_NAME}</a></body></html>'
        self.honest = answer(200, page.encode(), content_type="text/html"), answer(200, self.wheel)
        self.index, self.file = self.honest
        self.server: FakeServer = stack.enter_context(serving(self._answer))
        self.url = self.server.url("simple/")

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        (self.file if handler.path.endswith(".whl") else self.index)(handler)


@pytest.fixture
def source() -> Iterator[Source]:
    with ExitStack() as stack:
        yield Source(stack)


@pytest.fixture
def package(tmp_path: Path, source: Source) -> Package:
    made = Package(tmp_path)
    (made.root / "bin" / "uv").unlink()
    (made.root / "bin" / "uv").symlink_to(UV)
    (made.root / "core" / "host" / "self_test.py").write_text("import importlib.metadata as m; m.version('idletest')\n")
    header = f"# For Python {sys.version_info.major}.{sys.version_info.minor}.\n# Unpacked: 1000 bytes.\n"
    for build in ("cpu", "cuda"):
        lock = made.root / "resources" / "runtime" / f"{build}.lock"
        lock.write_text(f"{header}idletest==1.0 \\\n    --hash=sha256:{source.digest}\n")
    return made


def install(package: Package, address: str, proxy: Proxy | None = None, **variables: str) -> dict[str, Any]:
    return package.install(proxy or Proxy("none"), UV_DEFAULT_INDEX=address, UV_HTTP_RETRIES="0", **variables)


def kind(found: dict[str, Any]) -> str:
    """Of the failure, which is a whole sentence."""
    assert not found["ready"]
    failure = msgspec.convert(found["failure"], Message)
    said = sentence(failure)
    assert said.endswith(".")
    assert all(str(value) in said for value in failure.params.values())
    return failure.kind


@pytest.mark.parametrize(
    ("index", "file", "wanted"),
    [
        (answer(200, b"<html>sign in to this network</html>", content_type="text/html"), None, "runtime_wrong_file"),
        (answer(200, os.urandom(3000), content_type="application/json"), None, "runtime_wrong_file"),
        (answer(404), None, "runtime_wrong_file"),
        (answer(500), None, "runtime_offline"),
        (None, answer(200, wheel()), "runtime_wrong_file"),
        (None, answer(200, os.urandom(3000)), "runtime_wrong_file"),
        (None, cut(wheel(), 500_000), "runtime_offline"),
    ],
    ids=["a login page", "garbage", "no package", "an error", "another wheel", "no wheel", "a wheel that is cut"],
)
def test_an_index_that_answers_something_else_is_named_and_the_next_start_goes_on(
    package: Package, source: Source, index: Behaviour | None, file: Behaviour | None, wanted: str
) -> None:
    source.index, source.file = index or source.index, file or source.file
    failed = install(package, source.url)
    assert kind(failed) == wanted, failed
    assert package.store.current is None
    source.index, source.file = source.honest
    assert install(package, source.url)["ready"] is True


def test_a_power_cut_in_the_middle_of_a_download_costs_only_that(package: Package, source: Source) -> None:
    source.file = stalled(source.wheel, 500_000)
    process = package.start(Proxy("none"), UV_DEFAULT_INDEX=source.url)
    wait_for(lambda: any(request["path"].endswith(".whl") for request in source.server.seen))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert package.store.current is None
    source.file = source.honest[1]
    assert install(package, source.url)["ready"] is True
    assert package.folders() == ["cpu", "current"]


def test_without_a_network_and_through_a_proxy_that_refuses_it_says_so(package: Package, source: Source) -> None:
    with serving(answer(407)) as proxy:
        nowhere = proxy.url("")
        refused = install(package, "https://index.example/simple/", Proxy("own", nowhere.rstrip("/")))
        assert kind(refused) == "runtime_proxy"
        assert "from index.example" in sentence(msgspec.convert(refused["failure"], Message))  # it is not the proxy
    assert kind(install(package, nowhere)) == "runtime_offline"
    assert kind(install(package, source.url, Proxy("own", nowhere.rstrip("/")))) in ("runtime_proxy", "runtime_offline")
    assert install(package, source.url)["ready"] is True


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize(("options", "wanted"), [("size=600k", "disk_full"), ("ro", "runtime_not_writable")])
def test_a_disk_that_fills_up_and_a_home_that_cannot_be_written_are_told_apart(
    package: Package, source: Source, options: str, wanted: str
) -> None:
    package.store.folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", package.store.folder], check=True)
    try:
        assert kind(install(package, source.url)) == wanted
    finally:
        subprocess.run(["umount", package.store.folder], check=True)
    assert install(package, source.url)["ready"] is True

"""The process that checks and installs, against a real server on loopback that is honest or not."""

import ctypes
import errno
import io
import os
import subprocess
import tarfile
from pathlib import Path

import msgspec
import pytest

from core.api.proxy import Proxy
from core.client.installation import core_command, core_environment
from core.release import portable, publish, signed
from core.release.order import Done, Order, Progress, answers
from tests.fakes.http_server import FakeServer, answer, cut, endless, redirect, serving
from tests.fakes.proxy_server import proxy_to
from tests.release.given import PUBLIC, RELEASE, STRANGER, with_package
from tests.release.given import signed as sign

_START = '#!/bin/sh\necho "idlehive {version}"\n'


def run(verb: str, order: Order) -> tuple[Done, list[Progress]]:
    """What the process answers."""
    line = msgspec.json.encode(order) + b"\n"
    command = core_command("core.release", verb)
    said = subprocess.run(command, input=line, env=core_environment(), capture_output=True, check=False, timeout=60)
    messages = [answers.decode(line) for line in said.stdout.splitlines()]
    done = messages.pop()
    assert isinstance(done, Done), said.stderr
    return done, [message for message in messages if isinstance(message, Progress)]


def order(address: str, folder: Path, package: str = "deb", least: int = 0) -> Order:
    root = folder / "build"
    root.mkdir(exist_ok=True)
    return Order(address, (PUBLIC,), least, package, str(root), str(folder / "release"), Proxy("none"))


def failure(done: Done) -> str:
    assert done.release is None
    assert done.failure is not None
    return done.failure.kind


def build(version: str, name: str = "idlehive-9", program: str = "idlehive") -> bytes:
    """The archive of a portable build."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:xz") as tar:
        text = _START.format(version=version).encode()
        member = tarfile.TarInfo(f"{name}/{program}")
        member.size, member.mode = len(text), 0o755
        tar.addfile(member, io.BytesIO(text))
    return content.getvalue()


def offering(kind: str, content: bytes) -> FakeServer:
    """A server's behaviours: the release file first, then its package."""
    return serving(answer(200, sign(with_package(kind, content))), answer(200, content))  # type: ignore[return-value]


def test_a_check_finds_the_release_and_sends_nothing_about_the_computer(tmp_path: Path) -> None:
    with serving(answer(200, sign())) as server:
        done, _ = run("check", order(server.url("release.json"), tmp_path))
    assert done == Done(release=RELEASE)
    place = server.url("").removeprefix("http://").rstrip("/")
    assert server.seen == [
        {
            "path": "/release.json",
            "host": place,
            "user-agent": "Idlehive",
            "accept": "*/*",
            "accept-encoding": "identity",
            "connection": "close",
        }
    ]


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (answer(200, publish.sign(RELEASE, [STRANGER])), "release_not_signed"),
        (answer(200, sign(msgspec.structs.replace(RELEASE, expires=1.0))), "release_expired"),
        (answer(200, sign(msgspec.structs.replace(RELEASE, number=2))), "release_older"),
        (answer(200, os.urandom(5000)), "release_unreadable"),
        (answer(200, b"x" * (signed.LONGEST + 1)), "reply_too_large"),
        (endless(), "reply_too_large"),
        (cut(sign(), 40), "host_unreachable"),
        (answer(404), "server_error"),
        (redirect("/again"), "too_many_redirects"),
        (redirect("http://10.0.0.1/release.json"), "private_address"),
        (redirect("file:///etc/passwd"), "bad_redirect"),
    ],
)
def test_what_is_wrong_has_a_name_and_nothing_is_used(tmp_path: Path, behaviour: object, kind: str) -> None:
    with serving(behaviour) as server:  # type: ignore[arg-type]
        done, _ = run("check", order(server.url("release.json"), tmp_path, least=3))
    assert failure(done) == kind


def test_without_a_network_the_check_says_so(tmp_path: Path) -> None:
    with serving(answer(200)) as server:
        address = server.url("release.json")
    assert failure(run("check", order(address, tmp_path))[0]) == "host_unreachable"


def test_a_check_passes_the_proxy_of_the_desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "KDE")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with serving(answer(200, sign())) as server, proxy_to(int(server.server_address[1])) as through:
        (tmp_path / "kioslaverc").write_text(f"[Proxy Settings]\nProxyType=1\nhttpProxy={through.url('')}\n")
        wanted = msgspec.structs.replace(order("http://publisher.example/release.json", tmp_path), proxy=Proxy())
        done, _ = run("check", wanted)
    assert done == Done(release=RELEASE)


def test_a_debian_package_is_verified_and_named(tmp_path: Path) -> None:
    content = os.urandom(300_000)
    with offering("deb", content) as server:
        done, progress = run("install", order(server.url("a/release.json"), tmp_path))
    assert Path(done.file).read_bytes() == content
    assert done.file.endswith("/idlehive_9.0.0_amd64.deb")
    assert server.seen[1]["path"] == "/a/package"  # relative to the release file
    assert [one.step for one in progress] == ["downloading"]


@pytest.mark.parametrize("sent", [b"another package", b"a packagE", b"a pack"])
def test_a_package_of_other_bytes_is_not_kept(tmp_path: Path, sent: bytes) -> None:
    with serving(answer(200, sign(with_package("deb", b"a package"))), answer(200, sent)) as server:
        done, _ = run("install", order(server.url("release.json"), tmp_path))
    assert failure(done) in ("release_wrong_file", "reply_too_large")
    assert done.file == ""
    assert not (tmp_path / "release").exists()


def test_a_portable_build_is_exchanged_and_the_old_one_is_gone(tmp_path: Path) -> None:
    content = build("9.0.0")
    wanted = order("", tmp_path, "portable")
    (Path(wanted.root) / "old").touch()
    with offering("portable", content) as server:
        done, progress = run("install", msgspec.structs.replace(wanted, address=server.url("release.json")))
    assert done.failure is None
    assert [entry.name for entry in Path(wanted.root).iterdir()] == ["idlehive"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["build"]
    assert progress[-1] == Progress("installing", len(content))


@pytest.mark.parametrize(
    "content",
    [build("8.0.0"), build("9.0.0", program="another"), build("9.0.0")[:-80], b"no archive", build("9.0.0", "/tmp/x")],
    ids=["another version", "another program", "cut", "no archive", "a path elsewhere"],
)
def test_a_build_that_does_not_run_here_leaves_the_old_one(tmp_path: Path, content: bytes) -> None:
    wanted = order("", tmp_path, "portable")
    (Path(wanted.root) / "old").touch()
    with offering("portable", content) as server:
        done, _ = run("install", msgspec.structs.replace(wanted, address=server.url("release.json")))
    assert failure(done) == "release_not_usable"
    assert [entry.name for entry in Path(wanted.root).iterdir()] == ["old"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["build"]


def test_where_folders_cannot_change_names_in_one_step_they_do_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing:
        def renameat2(self, *_: object) -> int:
            return -1

    new, root = tmp_path / "staging" / "new", tmp_path / "root"
    for folder in (new, root):
        folder.mkdir(parents=True)
        (folder / folder.name).touch()
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Refusing())
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EINVAL)
    portable.exchange(new, root)
    assert [entry.name for entry in root.iterdir()] == ["new"]
    assert [entry.name for entry in (tmp_path / "staging" / "old").iterdir()] == ["root"]


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_is_noticed_before_the_download(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], check=True)
    try:
        with offering("deb", bytes(200_000)) as server:
            done, _ = run("install", order(server.url("release.json"), small))
        assert failure(done) == "disk_too_full"
        assert len(server.seen) == 1
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "nowhere").write_text("a file is in the way")
    with offering("deb", b"a package") as server:
        wanted = order(server.url("release.json"), tmp_path)
        done, _ = run("install", msgspec.structs.replace(wanted, folder=str(tmp_path / "nowhere" / "release")))
    assert failure(done) == "release_not_written"

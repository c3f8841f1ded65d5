"""The root file system for sessions on Windows, from stand-ins for Debian's packages and for the libraries."""

import os
import tarfile
from pathlib import Path

import pytest

from core.client import wsl
from installer.bundle import debian_packages
from installer.bundle.windows import root_image
from installer.checkout import Checkout

BUILT = 1_750_000_000


def _debian(_: Checkout, lock: Path, root: Path) -> None:
    assert lock == root_image.LOCK
    for name, mode in (
        ("bin/sh", 0o755),
        ("etc/os-release", 0o644),
        ("lib/ld.so.2", 0o755),
        ("usr/share/ca-certificates/a.crt", 0o644),
        ("usr/share/ca-certificates/b.crt", 0o644),
        ("usr/share/doc/dash/changelog", 0o644),
        ("usr/share/doc/dash/copyright", 0o644),
        ("usr/share/locale/de/messages.mo", 0o644),
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
        path.chmod(mode)


@pytest.fixture
def image(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(debian_packages, "unpack", _debian)
    before = os.umask(0o077)
    try:
        return root_image.build(checkout, tmp_path, "1.2", BUILT)
    finally:
        os.umask(before)


def test_it_has_what_wsl_asks_for_and_the_build_without_a_window(image: Path) -> None:
    with tarfile.open(image) as archive:
        members = {member.name: member for member in archive}
        assert archive.extractfile("etc/passwd").read() == b"root:x:0:0:root:/root:/bin/sh\n"  # type: ignore[union-attr]
        trusted = archive.extractfile("etc/ssl/certs/ca-certificates.crt").read()  # type: ignore[union-attr]
    assert trusted == b"usr/share/ca-certificates/a.crt\nusr/share/ca-certificates/b.crt\n"
    assert {"bin/sh", "etc", "mnt", "proc", "opt/idlehive/idlehive", "usr/share/doc/dash/copyright"} <= members.keys()
    assert not {"usr/share/doc/dash/changelog", "usr/share/locale", "opt/idlehive/lib/PySide6"} & members.keys()
    assert members["lib/ld.so.2"].mode == 0o755
    assert members["tmp"].mode == 0o1777
    assert members["root"].mode == 0o755
    assert members["etc/passwd"].mode == members["etc/ssl/certs/ca-certificates.crt"].mode == 0o644
    assert {(member.uid, member.gid, member.mtime) for member in members.values()} == {(0, 0, BUILT)}


def test_the_set_up_unpacks_the_build_where_the_image_has_it() -> None:
    assert f"/{root_image.HOME}" == wsl.HOME
    command = wsl.command(wsl.Step.UNPACK, "", "")
    assert command[-1] == "rm -rf /opt/idlehive && exec tar -C / -xf - opt/idlehive"


def test_each_package_is_locked() -> None:
    locked = [line.split() for line in root_image.LOCK.read_text().splitlines() if not line.startswith("#")]
    assert [name for name, _, _ in locked] == list(root_image.PACKAGES)
    assert all(len(digest) == 64 for _, _, digest in locked)

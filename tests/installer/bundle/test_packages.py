"""What the packages hold, and that the same sources give the same bytes."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from app.text.i18n import languages
from installer.bundle import build, deb, debian_packages, desktop, payload, portable, python
from installer.bundle.payload import is_needed
from installer.bundle.target import GLIBC
from installer.checkout import Checkout
from installer.failure import SetUpFailed
from tests.installer.bundle.conftest import ROOT

BUILT = 1_750_000_000


def contents(package: Path) -> dict[str, str]:
    """Rights and owner of each file of a .deb."""
    listing = subprocess.run(["dpkg-deb", "-c", package], capture_output=True, text=True, check=True).stdout
    fields = [line.split(maxsplit=5) for line in listing.splitlines()]
    return {field[5]: f"{field[0]} {field[1]} {field[3]}" for field in fields}


def test_two_builds_of_the_same_sources_give_the_same_bytes(checkout: Checkout, tmp_path: Path) -> None:
    made = []
    for number, mask in ((1, 0o022), (2, 0o077)):
        before = os.umask(mask)
        try:
            made.append([kind(checkout, tmp_path / str(number), "1.2", BUILT) for kind in (_deb, _portable)])
        finally:
            os.umask(before)
    for first, second in zip(*made, strict=True):
        assert first.name == second.name
        assert first.read_bytes() == second.read_bytes()


def _deb(checkout: Checkout, out: Path, version: str, built: int) -> Path:
    out.mkdir(exist_ok=True)
    return deb.build(checkout, out, version, built)


def _portable(checkout: Checkout, out: Path, version: str, built: int) -> Path:
    return portable.build(checkout, out, version, built)


def test_the_package_has_what_desktop_and_shells_read_and_belongs_to_root(checkout: Checkout, tmp_path: Path) -> None:
    found = contents(_deb(checkout, tmp_path, "1.2", BUILT))
    for path in (
        "applications/idlehive.desktop",
        "bash-completion/completions/idlehive",
        "doc/idlehive/copyright",
        "fish/vendor_completions.d/idlehive.fish",
        "icons/hicolor/scalable/apps/idlehive.svg",
        "man/man1/idlehive.1.gz",
        "metainfo/org.idlehive.Idlehive.metainfo.xml",
        "mime/packages/idlehive.xml",
        "zsh/vendor-completions/_idlehive",
    ):
        assert found[f"./usr/share/{path}"] == "-rw-r--r-- root/root 2025-06-15"
    assert found["./usr/lib/idlehive/bin/uv"].startswith("-rwxr-xr-x")
    assert found["./usr/lib/idlehive/lib/PySide6/QtCore.abi3.so"].startswith("-rw-r--r--")
    assert "./usr/bin/idlehive -> ../lib/idlehive/idlehive" in found
    assert not [path for path in found if "__pycache__" in path or "torch" in path]


def test_a_package_names_its_publisher_if_there_is_one(checkout: Checkout, tmp_path: Path) -> None:
    payload.make(checkout, tmp_path / "without", "deb", "1.2")
    assert json.loads((tmp_path / "without" / "package.json").read_text()) == {"kind": "deb"}
    publisher = {"address": "https://example.org/release.json", "keys": ["ab" * 32]}
    checkout.pyproject["tool"]["idlehive"]["publisher"] = publisher
    payload.make(checkout, tmp_path / "with", "deb", "1.2")
    assert json.loads((tmp_path / "with" / "package.json").read_text()) == {"kind": "deb", "publisher": publisher}
    assert not (tmp_path / "with" / "core" / "release" / "publish.py").exists()
    assert not (tmp_path / "with" / "resources" / "projects" / "hugging_face.py").exists()


def test_lintian_finds_no_error(checkout: Checkout, tmp_path: Path) -> None:
    package = _deb(checkout, tmp_path, "1.2", BUILT)
    checked = subprocess.run(["lintian", "--fail-on", "error", package], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_desktop_entry_and_metainfo_are_valid(checkout: Checkout, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "-x", _deb(checkout, tmp_path, "1.2", BUILT), tmp_path / "root"], check=True)
    share = tmp_path / "root" / "usr" / "share"
    commands: tuple[list[str | Path], ...] = (
        ["desktop-file-validate", "--no-hints", share / "applications" / "idlehive.desktop"],
        ["appstreamcli", "validate", "--no-net", share / "metainfo" / "org.idlehive.Idlehive.metainfo.xml"],
    )
    for command in commands:
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_qts_libraries_are_recommended_and_no_python_of_the_system_is_needed() -> None:
    fields = dict(line.split(": ", 1) for line in deb.control_text("1.2", 10).splitlines() if not line.startswith(" "))
    assert {"libegl1", "libwayland-cursor0"} <= set(fields["Recommends"].split(", "))
    assert "libegl1" not in fields["Depends"]
    assert not re.search(r"(^|[ ,|])python", fields["Depends"])
    assert "libssl3 (>= 3.0) | libssl3t64" in fields["Depends"].split(", ")  # Debian 13's and Ubuntu 24.04's name


def test_the_papers_name_the_c_library_that_the_wheels_are_chosen_for() -> None:
    assert f"libc6 (>= {GLIBC})" in deb.control_text("1.2", 10)
    for text in (portable.README, (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")):
        assert f"glibc {GLIBC}" in text


def test_packages_carry_no_file_that_git_ignores_and_none_that_makes_others(tmp_path: Path) -> None:
    checkout, textures = tmp_path / "checkout", Path("resources/projects/textures")
    shutil.copytree(ROOT / "resources", checkout / "resources")
    for name in ("app", "core"):
        (checkout / name).mkdir()
    (checkout / textures / "train.tar").write_text("images")
    payload.copy_sources(checkout, tmp_path / "package")
    assert [path.name for path in (tmp_path / "package" / textures).iterdir()] == ["project.toml"]


def test_the_launcher_starts_the_packages_own_python_from_any_folder(checkout: Checkout, tmp_path: Path) -> None:
    with tarfile.open(_portable(checkout, tmp_path, "1.2", BUILT)) as archive:
        archive.extractall(tmp_path / "the re", filter="data")
    (tmp_path / "idlehive").symlink_to(next((tmp_path / "the re").glob("*/idlehive")))
    wrong = {"PATH": "/usr/bin:/bin", "PYTHONHOME": "/nowhere", "PYTHONPATH": "/nowhere"}
    asked = subprocess.run([tmp_path / "idlehive", "--version"], capture_output=True, text=True, check=False, env=wrong)
    assert asked.stdout == "idlehive 1.2\n", asked.stderr


@pytest.mark.parametrize("restart", [("-I", "idlehive", "--in-tray"), ("-P", "-m", "core.engine")])
def test_what_an_older_build_restarts_with_the_systems_python_continues_with_the_packages(
    restart: tuple[str, ...], tmp_path: Path
) -> None:
    _write_program(tmp_path)
    own = tmp_path / "python" / "bin" / "python3"
    own.parent.mkdir(parents=True)
    own.write_text('#!/bin/sh\necho "$0" "$@"\n')
    own.chmod(0o755)
    assert _restarted(restart, tmp_path).split() == [str(own), *restart]
    own.unlink()
    own.symlink_to(sys.executable)  # it is the package's already
    assert _restarted(restart, tmp_path) == "a library is loaded\n"


def _write_program(root: Path) -> None:
    """A window and an engine that load a library."""
    (root / "app").mkdir()
    (root / "core").mkdir()
    (root / "lib").mkdir()
    shutil.copy(ROOT / "core" / "__init__.py", root / "core")
    (root / "app" / "__init__.py").touch()  # else the checkout's, which is installed in the environment, is preferred
    shutil.copy(ROOT / "installer" / "bundle" / "launcher.py", root / "idlehive")
    for program in ("app/__main__.py", "core/engine.py"):
        (root / program).write_text("import library")
    (root / "lib" / "library.py").write_text("print('a library is loaded')")


def _restarted(command: tuple[str, ...], root: Path) -> str:
    environment = {"PYTHONPATH": f"{root}{os.pathsep}{root / 'lib'}"}
    started = [sys.executable, *command]
    return subprocess.run(started, cwd=root, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("path", "carried"),
    [
        ("asyncio/events.py", True),
        ("lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so", True),
        ("lib-dynload/_testcapi.cpython-311-x86_64-linux-gnu.so", False),
        ("test/support/__init__.py", False),
        ("sitecustomize.py", False),
    ],
)
def test_only_used_parts_of_python_are_carried(
    path: str, carried: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetched(_: Checkout, folder: Path, wanted: str) -> Path:
        """A package of Debian with one file."""
        tree, package = folder / "tree", folder / f"{wanted.partition('=')[0]}_1_amd64.deb"
        about = "Package: python\nVersion: 1\nArchitecture: amd64\nMaintainer: m <m@m.m>\nDescription: test\n"
        for name in ("DEBIAN/control", "usr/bin/python3.11", "usr/share/doc/libpython3.11-minimal/copyright"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(about)
        (tree / "usr/lib/python3.11" / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / "usr/lib/python3.11" / path).write_text("")
        subprocess.run(["dpkg-deb", "-b", tree, package], check=True, capture_output=True)
        return package

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # the same package twice
    monkeypatch.setattr(debian_packages, "fetch", fetched)
    monkeypatch.setattr(python, "LOCK", tmp_path / "python.lock")
    (tmp_path / "package").mkdir()
    python.renew(Checkout(ROOT))
    python.add(Checkout(ROOT), tmp_path / "package")
    assert (tmp_path / "package/python/lib/python3.11" / path).exists() is carried


def test_a_python_that_is_not_the_locked_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other_1_amd64.deb").write_bytes(b"another package")
    monkeypatch.setattr(debian_packages, "fetch", lambda *_: tmp_path / "other_1_amd64.deb")
    with pytest.raises(SetUpFailed, match=r"^other_1_amd64\.deb is not the file that python\.lock names\.$"):
        python.add(Checkout(ROOT), tmp_path)


def test_a_machine_whose_apt_lacks_the_locked_python_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python, "LOCK", tmp_path / "python.lock")
    (tmp_path / "python.lock").write_text(f"python3.11-minimal 0.1 {'0' * 64}\n")
    with pytest.raises(SetUpFailed, match=r"^apt does not have python3\.11-minimal=0\.1, which packages carry\."):
        python.add(Checkout(ROOT), tmp_path)


def test_packages_carry_every_language_and_what_qt_says_in_it(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "resources" / "locale", tmp_path / "from" / "resources" / "locale")
    for name in ("app", "core"):
        (tmp_path / "from" / name).mkdir()
    payload.copy_sources(tmp_path / "from", tmp_path / "package")
    carried = {path.parts[-3] for path in (tmp_path / "package").rglob("idlehive.mo")}
    assert carried | {"en"} == set(languages())
    of_qt = {f"PySide6/Qt/translations/qtbase_{code}.qm" for code in (*languages(), "xx")}
    assert {path for path in of_qt if is_needed(path)} == of_qt - {
        "PySide6/Qt/translations/qtbase_en.qm",
        "PySide6/Qt/translations/qtbase_xx.qm",
    }
    assert desktop.TRANSLATED.keys() | {"en"} == set(languages())
    assert "GenericName[pt_BR]=" in desktop.entry("idlehive")
    assert 'xml:lang="pt-BR"' in desktop.metainfo("1.2", BUILT)


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("PySide6/QtCore.abi3.so", True),
        ("PySide6/QtQuick.abi3.so", False),
        ("PySide6/Qt/lib/libQt6Core.so.6", True),
        ("PySide6/Qt/lib/libQt6Quick.so.6", False),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/Qt/qml/QtQuick/qmldir", False),
        ("PySide6/designer", False),
        ("msgspec/_core.cpython-314-x86_64-linux-gnu.so", True),
        ("msgspec/__init__.pyi", False),
        ("keyring-25.7.0.dist-info/entry_points.txt", True),
    ],
)
def test_only_used_parts_of_the_libraries_are_carried(path: str, needed: bool) -> None:
    assert is_needed(path) is needed


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_real_package_is_reproducible_below_100_mb_and_clean_to_lintian(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(BUILT))  # else a commit between the two builds is another time
    made = [build.build(Checkout(ROOT), "deb", tmp_path / name) for name in ("a", "b")]
    assert made[0].stat().st_size < 100e6
    assert made[0].read_bytes() == made[1].read_bytes()
    lintian = ["lintian", "--fail-on", "error,warning", str(made[0])]
    checked = subprocess.run(lintian, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout

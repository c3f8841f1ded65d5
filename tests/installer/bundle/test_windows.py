"""The installer for Windows: compiled here, and installed and removed under Wine where that is."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from core.runtime import in_wsl
from installer.bundle import desktop, native, payload
from installer.bundle.deb import set_times
from installer.bundle.windows import qt, setup
from installer.checkout import Checkout
from tests.installer.bundle.conftest import ROOT, few_sources, native_libraries

pytestmark = pytest.mark.skipif(shutil.which("makensis") is None, reason="needs makensis (Debian: nsis)")
WINE = shutil.which("wine64", path="/usr/lib/wine") or shutil.which("wine64")
CLASSES = r"[HKEY_CURRENT_USER\Software\Classes"
INSTALLED = r"[HKEY_CURRENT_USER\Software\Microsoft\Windows\CurrentVersion\Uninstall\Idlehive]"


@pytest.fixture
def compiled(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Compiles a version; it has no Python."""
    monkeypatch.setattr(native, "install_libraries", native_libraries)
    monkeypatch.setattr(payload, "copy_sources", few_sources)

    def build(version: str) -> Path:
        root = tmp_path / version
        setup.tree(checkout, root, version)
        (root / "resources" / version).touch()
        (root / "python").mkdir()
        (root / "python/pythonw.exe").touch()
        (root / "wsl").mkdir()
        (root / "wsl/root.tar").touch()
        set_times(root, 1_700_000_000)
        return setup.compile_installer(checkout, root, tmp_path, version)

    return build


def test_the_same_files_give_the_same_installer_and_its_manifest_asks_for_no_administrator(
    compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    first = compiled("1.2.3").read_bytes()
    shutil.rmtree(tmp_path / "1.2.3")
    assert compiled("1.2.3").read_bytes() == first
    found = re.search(rb"<assembly.*?</assembly>", first, re.DOTALL)
    assert found
    manifest = ET.fromstring(found[0])  # noqa: S314 - made by this test
    level = manifest.find(".//{*}requestedExecutionLevel")
    assert level is not None
    assert level.get("level") == "asInvoker"
    assert [each.get("Id") for each in manifest.findall(".//{*}supportedOS")] == [
        "{8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a}"  # Windows 10 and 11
    ]


def test_no_library_of_linux_is_carried(compiled: Callable[[str], Path], tmp_path: Path) -> None:
    compiled("1.2.3")
    assert not (tmp_path / "1.2.3/bin").exists()
    assert not list((tmp_path / "1.2.3/resources/runtime").glob("*.lock"))
    assert (tmp_path / "1.2.3/idlehive.ico").read_bytes()[:4] == b"\0\0\1\0"
    assert '"kind": "exe"' in (tmp_path / "1.2.3/package.json").read_text()


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("Qt6Core.dll", True),
        ("Qt6CoreTools.dll", False),
        ("Qt6Quick.dll", False),
        ("QtCore.pyd", True),
        ("QtQuick.pyd", False),
        ("msvcp140_1.dll", True),
        ("opengl32sw.dll", False),
        ("plugins/platforms/qwindows.dll", True),
        ("plugins/sqldrivers/qsqlite.dll", False),
        ("pyside6.abi3.dll", True),
        ("pyside6qml.abi3.dll", False),
        ("qml/QtQuick/qmldir", False),
        ("translations/qtbase_de.qm", True),
        ("translations/qtbase_xx.qm", False),
    ],
)
def test_only_used_parts_of_qt_are_carried(path: str, needed: bool) -> None:
    assert qt.is_needed(path) is needed


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump (Debian: binutils)")
def test_every_carried_library_of_qt_finds_those_that_it_imports(tmp_path: Path) -> None:
    root = tmp_path / "windows"
    setup.tree(Checkout(ROOT), root, "1.2.3")
    libraries = [path for path in (root / "lib").rglob("*") if path.suffix in (".dll", ".pyd")]
    carried = {path.name.lower() for path in libraries}
    assert "qwindows.dll" in carried
    imported = {name.lower() for path in libraries for name in _imports(path)}
    named = re.compile(r"(qt6|pyside6|shiboken6|msvcp|vcruntime)")
    assert {name for name in imported if named.match(name)} <= carried


def _imports(library: Path) -> list[str]:
    told = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
    return re.findall(r"DLL Name: (\S+)", told)


@pytest.fixture
def wine(tmp_path: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Runs a program for Windows in a Windows of its own."""
    if WINE is None:
        pytest.skip("needs 64-bit Wine (Debian: wine64)")
    environment = {**os.environ, "WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all", "DISPLAY": ""}
    environment["WINEDLLOVERRIDES"] = "mscoree=;mshtml="  # no offers to download .NET and a browser

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(WINE), *command], env=environment, capture_output=True, text=True, timeout=100, check=False
        )

    run("wineboot", "-i")
    yield run
    run("wineboot", "-k")


def registry(wine: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> str:
    """What programs have registered for this person."""
    written = tmp_path / "wine/drive_c/software.reg"
    wine("reg", "export", r"HKCU\Software", r"C:\software.reg", "/y")
    return written.read_text(encoding="utf-16")


@pytest.mark.slow
@pytest.mark.timeout(300)  # Wine makes a whole Windows first
def test_it_installs_upgrades_and_removes(
    compiled: Callable[[str], Path],
    wine: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    assert wine(str(compiled("1.2.3")), "/S").returncode == 0
    users = tmp_path / "wine/drive_c/users"
    (folder,) = users.glob("*/AppData/Local/Programs/Idlehive")
    (shortcut,) = users.rglob("Idlehive.lnk")
    assert (folder / in_wsl.IMAGE.relative_to(ROOT)).exists()
    assert (folder / "idlehive").read_bytes() == (tmp_path / "1.2.3/idlehive").read_bytes()
    entries = registry(wine, tmp_path)
    assert rf"{CLASSES}\idlehive\shell\open\command]" in entries
    assert r'\\idlehive\" open \"%1\""' in entries
    assert f'{CLASSES}\\.idlehive]\n@="Idlehive.Project"\n"Content Type"="{desktop.MIME_TYPE}"' in entries
    assert INSTALLED in entries

    kept = folder / "notes.txt"
    kept.write_text("a file of the volunteer's")
    assert wine(str(compiled("1.3.0")), "/S").returncode == 0
    assert '"DisplayVersion"="1.3.0"' in registry(wine, tmp_path)
    assert (folder / "resources/1.3.0").exists()
    assert not (folder / "resources/1.2.3").exists(), "what the older version had is gone"

    assert wine(str(folder / "uninstall.exe"), "/S", f"_?={_windows(folder, tmp_path)}").returncode == 0
    assert {path.name for path in folder.iterdir()} - {"uninstall.exe"} == {kept.name}
    assert not shortcut.exists()
    left = registry(wine, tmp_path)
    assert CLASSES in left
    assert not re.search(r"^\[.*idlehive", left, re.MULTILINE | re.IGNORECASE)


@pytest.mark.slow
@pytest.mark.timeout(300)  # Wine makes a whole Windows first
def test_in_a_folder_with_other_files_it_makes_one_of_its_own_and_deletes_nothing(
    compiled: Callable[[str], Path],
    wine: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    chosen = tmp_path / "wine/drive_c/work"
    theirs = [chosen / name for name in ("app/main.js", "lib/a.txt", "resources/b.txt", "package.json")]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a file of the volunteer's")
    assert wine(str(compiled("1.2.3")), "/S", r"/D=C:\work").returncode == 0
    assert [path.read_text() for path in theirs] == ["a file of the volunteer's"] * len(theirs)
    assert (chosen / "Idlehive/resources/1.2.3").exists()
    assert wine(str(compiled("1.3.0")), "/S").returncode == 0
    assert (chosen / "Idlehive/resources/1.3.0").exists(), "an upgrade finds it again"
    assert not (chosen / "Idlehive/Idlehive").exists()


def _windows(path: Path, tmp_path: Path) -> str:
    return "C:\\" + str(path.relative_to(tmp_path / "wine/drive_c")).replace("/", "\\")

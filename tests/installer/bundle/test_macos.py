"""The macOS app, as far as it can be looked at without macOS."""

import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from installer.bundle import desktop, native, payload
from installer.bundle.macos import description, dmg, signing
from installer.bundle.macos.signing import Identity
from installer.checkout import Checkout
from installer.failure import SetUpFailed
from tests.installer.bundle.conftest import few_sources, native_libraries


@pytest.fixture
def app(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(native, "install_libraries", native_libraries)
    monkeypatch.setattr(payload, "copy_sources", few_sources)
    return dmg.tree(checkout, tmp_path / "image", "1.2.3")


def test_the_app_says_what_the_desktop_file_says(app: Path) -> None:
    info = plistlib.loads((app / "Contents/Info.plist").read_bytes())
    assert info["CFBundleIdentifier"] == desktop.COMPONENT
    assert info["CFBundleVersion"] == "1.2.3"
    (link,), (file,) = info["CFBundleURLTypes"], info["UTExportedTypeDeclarations"]
    assert all(f"x-scheme-handler/{scheme}" in desktop.entry("x") for scheme in link["CFBundleURLSchemes"])
    assert f'glob pattern="*.{file["UTTypeTagSpecification"]["public.filename-extension"][0]}"' in desktop.file_type()
    assert file["UTTypeTagSpecification"]["public.mime-type"] == [desktop.MIME_TYPE]
    assert info["CFBundleDocumentTypes"][0]["LSItemContentTypes"] == [file["UTTypeIdentifier"]]
    assert (app / "Contents/MacOS" / info["CFBundleExecutable"]).stat().st_mode & 0o111
    assert (app / "Contents/Resources" / info["CFBundleIconFile"]).read_bytes()[:4] == b"icns"
    assert {"en", "de", "pt_BR"} <= set(info["CFBundleLocalizations"])


@pytest.mark.skipif(shutil.which("plistutil") is None, reason="needs plistutil (Debian: libplist-utils)")
def test_apples_format_is_read_by_another_program(tmp_path: Path) -> None:
    for name, content in (("info", description.info("1.2.3", ("de",))), ("rights", description.entitlements())):
        path = tmp_path / f"{name}.plist"
        path.write_bytes(content)
        binary = tmp_path / f"{name}.binary"
        subprocess.run(["plistutil", "-i", str(path), "-o", str(binary)], check=True)
        assert plistlib.loads(binary.read_bytes(), fmt=plistlib.FMT_BINARY) == plistlib.loads(content)


def test_the_app_has_the_libraries_of_macos_and_their_locks(app: Path) -> None:
    runtime = app / "Contents/Resources/resources/runtime"
    assert [path.name for path in runtime.glob("*.lock")] == ["cpu.lock"]
    assert "# For Python 3.12." in (runtime / "cpu.lock").read_text()
    assert '"kind": "dmg"' in (app / "Contents/Resources/package.json").read_text()


def test_the_launcher_starts_the_bundles_own_python_from_any_place(app: Path, tmp_path: Path) -> None:
    python = app / "Contents/Resources/python"
    (python / "bin").mkdir(parents=True)
    (python / "lib/python3.12").mkdir(parents=True)
    (python / "lib/python3.12/os.py").touch()
    (python / "bin/python3").write_text('#!/bin/sh\nprintf "%s\\n" "$0" "$@"\n')
    (python / "bin/python3").chmod(0o755)
    dmg.place_python(app)
    moved = app.rename(tmp_path / "My Apps.app") / "Contents"
    started = [str(moved / "MacOS/Idlehive"), "status", "--json"]
    said = subprocess.run(started, cwd="/", capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0] == str(moved / "MacOS/python3")
    assert said[1] == "-I"
    assert Path(said[2]).samefile(moved / "Resources/idlehive")
    assert said[3:] == ["status", "--json"]
    assert (moved / "lib/python3.12/os.py").exists(), "Python looks for its library above its own folder"


def test_what_lies_inside_is_signed_first() -> None:
    app = Path("Idlehive.app")
    code = [app / "Contents/MacOS/python3", app / "Contents/Resources/lib/a/b.so", app / "Contents/Resources/bin/uv"]
    signed = signing.sign(app, code, Path("rights.plist"), Identity("Developer ID Application: X"))
    assert [Path(command[-1]).name for command in signed] == ["b.so", "uv", "python3", "Idlehive.app"]
    assert all(command[:4] == ["codesign", "--force", "--options", "runtime"] for command in signed)
    assert all("--timestamp" in command for command in signed)


def test_code_is_found_by_its_content() -> None:
    assert signing.is_code(Path("python3"), bytes.fromhex("cffaedfe"))
    assert signing.is_code(Path("x.dylib"), bytes.fromhex("cafebabe"))
    assert not signing.is_code(Path("idlehive"), b"#!/u")
    assert not signing.is_code(Path("X.class"), bytes.fromhex("cafebabe"))


def test_only_a_real_identity_is_notarised() -> None:
    image = Path("idlehive.dmg")
    assert signing.notarise(image, Identity()) == []
    assert signing.notarise(image, Identity("Developer ID Application: X")) == []
    commands = signing.notarise(image, Identity("Developer ID Application: X", "stored"))
    assert [command[1] for command in commands] == ["--force", "notarytool", "stapler"]


def test_elsewhere_the_disk_image_is_refused_with_a_sentence(checkout: Checkout, tmp_path: Path) -> None:
    with pytest.raises(SetUpFailed, match="built there"):
        dmg.build(checkout, tmp_path, "1.2.3", 0)

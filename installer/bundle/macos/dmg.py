"""The app and its disk image. `tree` runs on every system, `build` on macOS alone."""

import os
import shutil
import sys
from functools import partial
from pathlib import Path

from installer.bundle import native, payload
from installer.bundle.deb import set_times
from installer.bundle.locks import locks
from installer.bundle.macos import description, signing
from installer.bundle.target import MACOS
from installer.checkout import Checkout
from installer.failure import SetUpFailed
from installer.programs import Programs


def build(checkout: Checkout, out: Path, version: str, built: int) -> Path:
    """Build the disk image into the folder `out` and return its path.

    IDLEHIVE_SIGN_IDENTITY names a certificate of the keychain, IDLEHIVE_NOTARY_PROFILE what notarytool has stored.
    """
    if sys.platform != "darwin":
        raise SetUpFailed("codesign and hdiutil are parts of macOS: the disk image is built there.")
    image, root = out / f"idlehive-{version}-macos-arm64.dmg", out / "dmg"
    shutil.rmtree(root, ignore_errors=True)
    app = tree(checkout, root, version)
    native.add_python(checkout, MACOS, app / "Contents/Resources/python")
    place_python(app)
    set_times(root, built)
    entitlements = out / "entitlements.plist"
    entitlements.write_bytes(description.entitlements())
    name, profile = os.environ.get("IDLEHIVE_SIGN_IDENTITY"), os.environ.get("IDLEHIVE_NOTARY_PROFILE", "")
    identity = signing.Identity(name or signing.AD_HOC, profile)
    signed = signing.sign(app, _code(app), entitlements, identity)
    for command in (*signed, *signing.pack(root, image), *signing.notarise(image, identity)):
        Programs(checkout.log, checkout.root).run(command)
    shutil.rmtree(root)
    entitlements.unlink()
    return image


def tree(checkout: Checkout, root: Path, version: str) -> Path:
    """What the disk image shows, without Python; returns the app."""
    app = root / "Idlehive.app"
    contents, resources = app / "Contents", app / "Contents/Resources"
    install = partial(native.install_libraries, target=MACOS, lock=locks(checkout).macos_app)
    payload.make(checkout, resources, "dmg", version, install)
    runtime = resources / "resources/runtime"
    shutil.copyfile(locks(checkout).macos_runtime, runtime / "cpu.lock")
    (runtime / "cuda.lock").unlink()
    native.write_icon(checkout, resources / description.ICON)
    (contents / "Info.plist").write_bytes(description.info(version, payload.LANGUAGES))
    launcher = contents / "MacOS" / description.EXECUTABLE
    launcher.parent.mkdir()
    launcher.write_text(description.LAUNCHER, encoding="ascii")
    launcher.chmod(0o755)
    (root / "Applications").symlink_to("/Applications")
    return app


def place_python(app: Path) -> None:
    """Python beside the launcher; it finds its library as `lib` of the folder above its own."""
    contents = app / "Contents"
    shutil.copy2(contents / "Resources/python/bin/python3", contents / "MacOS/python3")
    (contents / "lib").symlink_to("Resources/python/lib")


def _code(app: Path) -> list[Path]:
    files = [path for path in app.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in files if signing.is_code(path, _start(path))]


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)

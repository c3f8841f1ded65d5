"""The commands that sign, pack and notarise the app (man codesign, hdiutil, notarytool, stapler). Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

AD_HOC = "-"
"""No identity: the app runs on the computer that built it, elsewhere after a right click and *Open*."""


@dataclass(frozen=True)
class Identity:
    """Who signs. `name` is that of a Developer ID Application certificate, `profile` one stored by notarytool."""

    name: str = AD_HOC
    profile: str = ""


def sign(app: Path, code: Iterable[Path], entitlements: Path, identity: Identity) -> list[list[str]]:
    """Sign what lies inside first, the deepest before the rest, since a signature covers what is inside."""
    stamp = "--timestamp=none" if identity.name == AD_HOC else "--timestamp"
    command = ["codesign", "--force", "--options", "runtime", stamp, "--entitlements", str(entitlements)]
    inside = sorted(code, key=lambda path: (-len(path.parts), path))
    return [[*command, "--sign", identity.name, str(path)] for path in (*inside, app)]


def is_code(path: Path, start: bytes) -> bool:
    """Whether a file has to be signed, by its first four bytes: Mach-O, or a universal binary."""
    return path.suffix != ".class" and start in {
        b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf",
    }  # fmt: skip


def pack(folder: Path, image: Path) -> list[list[str]]:
    """The disk image of a folder, which holds the app and a link to /Applications."""
    volume = ["-volname", "Idlehive", "-fs", "HFS+", "-format", "UDZO", "-ov"]
    return [["hdiutil", "create", *volume, "-srcfolder", str(folder), str(image)]]


def notarise(image: Path, identity: Identity) -> list[list[str]]:
    """Nothing without a certificate and Apple's account."""
    if identity.name == AD_HOC or not identity.profile:
        return []
    return [
        ["codesign", "--force", "--timestamp", "--sign", identity.name, str(image)],
        ["xcrun", "notarytool", "submit", str(image), "--keychain-profile", identity.profile, "--wait"],
        ["xcrun", "stapler", "staple", str(image)],
    ]

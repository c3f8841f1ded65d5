"""What macOS reads of the app: Info.plist and the entitlements of its signature. Pure."""

import plistlib

from installer.bundle.desktop import COMPONENT, MIME_TYPE
from installer.bundle.target import OLDEST_MACOS

EXECUTABLE = "Idlehive"
ICON = "idlehive.icns"
_FILE_TYPE = f"{COMPONENT}.project"


def info(version: str, languages: tuple[str, ...]) -> bytes:
    """Info.plist (Information Property List). Without LSUIElement: its main part is a window, so it has a Dock icon."""
    return plistlib.dumps(
        {
            "CFBundleIdentifier": COMPONENT,
            "CFBundleName": "Idlehive",
            "CFBundleDisplayName": "Idlehive",
            "CFBundlePackageType": "APPL",
            "CFBundleInfoDictionaryVersion": "6.0",
            "CFBundleExecutable": EXECUTABLE,
            "CFBundleIconFile": ICON,
            "CFBundleVersion": version,
            "CFBundleShortVersionString": version,
            "CFBundleDevelopmentRegion": "en",
            "CFBundleLocalizations": ["en", *languages],
            "LSMinimumSystemVersion": OLDEST_MACOS,
            "LSArchitecturePriority": ["arm64"],
            "LSApplicationCategoryType": "public.app-category.education",
            "LSMultipleInstancesProhibited": True,
            "NSHighResolutionCapable": True,
            "NSHumanReadableCopyright": "The Idlehive contributors. Apache-2.0.",
            "NSLocalNetworkUsageDescription": "Computers in your network can train together directly.",
            "CFBundleURLTypes": [{"CFBundleURLName": COMPONENT, "CFBundleURLSchemes": ["idlehive"]}],
            "CFBundleDocumentTypes": [
                {
                    "CFBundleTypeName": "Idlehive project",
                    "CFBundleTypeRole": "Viewer",
                    "LSHandlerRank": "Owner",
                    "LSItemContentTypes": [_FILE_TYPE],
                }
            ],
            "UTExportedTypeDeclarations": [
                {
                    "UTTypeIdentifier": _FILE_TYPE,
                    "UTTypeDescription": "Idlehive project",
                    "UTTypeConformsTo": ["public.json"],
                    "UTTypeTagSpecification": {
                        "public.filename-extension": ["idlehive"],
                        "public.mime-type": [MIME_TYPE],
                    },
                }
            ],
        }
    )


def entitlements() -> bytes:
    """Exceptions from the hardened runtime that notarisation asks for.

    The libraries of sessions are installed into the profile and signed by others; ctypes makes code at run time.
    """
    allowed = ("disable-library-validation", "allow-unsigned-executable-memory")
    return plistlib.dumps({f"com.apple.security.cs.{name}": True for name in allowed})


LAUNCHER = """#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/python3" -I "$here/../Resources/idlehive" "$@"
"""
"""The bundle's executable. Its Python lies beside it: only so does macOS take the process for the bundle's."""

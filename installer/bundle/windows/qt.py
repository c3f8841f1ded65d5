"""What the package for Windows carries of Qt; its libraries lie side by side there."""

from installer.bundle.payload import QT_MODULES, TRANSLATIONS

_LIBRARIES = ("msvcp140", "pyside6.", "vcruntime140", *(f"Qt6{name.removeprefix('Qt')}." for name in QT_MODULES))
"""Those of Microsoft's compiler are beside them."""
_PLUGINS = (
    "iconengines/", "imageformats/qgif", "imageformats/qico", "imageformats/qjpeg", "imageformats/qsvg",
    "imageformats/qwebp", "platforms/qminimal", "platforms/qoffscreen", "platforms/qwindows", "styles/", "tls/",
)  # fmt: skip


def is_needed(path: str) -> bool:
    """Whether a file of PySide6 is carried; `path` is relative to its folder."""
    folder, _, rest = path.partition("/")
    if folder == "plugins":
        return rest.startswith(_PLUGINS)
    if folder == "translations":
        return rest in TRANSLATIONS
    if rest:
        return False
    return path.endswith(".py") or path.startswith(_LIBRARIES) or path.split(".", maxsplit=1)[0] in QT_MODULES

"""Linux desktops: Desktop Application Autostart Specification 0.5 and Desktop Entry Specification 1.5."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_RESERVED = re.compile(r"[\s\"'\\><~|&;$*?#()`%=]")


def is_sandboxed(environment: Mapping[str, str], program: Path, info: Path = Path("/.flatpak-info")) -> bool:
    """Whether Flatpak or Snap runs `program`: they give it a folder of its own, in which no desktop looks.

    What is started from a sandboxed terminal inherits SNAP, so it counts only for programs that lie in that snap.
    """
    return info.exists() or ("SNAP" in environment and program.is_relative_to(environment["SNAP"]))


def folder(environment: Mapping[str, str], user: Path) -> Path:
    configured = environment.get("XDG_CONFIG_HOME", "")
    # The Base Directory Specification: a relative path is to be ignored.
    base = Path(configured) if configured.startswith("/") else user / ".config"
    return base / "autostart"


def text(command: Sequence[str], variables: Mapping[str, str]) -> str:
    words = ["env", *(f"{name}={value}" for name, value in variables.items())] if variables else []
    line = " ".join(quoted(word) for word in [*words, *command])
    return "\n".join(
        (
            "[Desktop Entry]",
            "Type=Application",
            "Name=Idlehive",
            "Comment=Give this computer's idle time to open deep-learning collaborations",
            f"Exec={line}",
            "Icon=idlehive",
            "Terminal=false",
            "X-GNOME-Autostart-enabled=true",
            "",
        )
    )


def quoted(word: str) -> str:
    """An argument of Exec. Escaped twice: once for the argument, once for the file's strings."""
    if not _RESERVED.search(word):
        return word
    inside = re.sub(r'(["`$\\])', r"\\\1", word).replace("%", "%%")
    return '"' + inside.replace("\\", "\\\\") + '"'

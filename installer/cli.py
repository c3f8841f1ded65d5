"""The verbs of `python3 -m installer`."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from installer import checks, environment
from installer.bundle import build as packaging
from installer.bundle import locks
from installer.bundle.windows import root_image
from installer.checkout import Checkout, this_checkout
from installer.failure import SetUpFailed


@dataclass(frozen=True)
class Verb:
    """Something the installer does: what it is for, and how."""

    usage: str
    purpose: str
    action: Callable[[Checkout, list[str]], int]


def main(arguments: list[str]) -> int:
    """Do what `arguments` ask for; returns the exit status: 0 done, 1 failed, 2 wrong use, 130 interrupted."""
    if os.name == "nt":
        return _complain("Idlehive runs on Linux and macOS; hivemind, which it trains with, does not run on Windows.")
    if arguments and arguments[0] in {"-h", "--help", "help"}:
        print(usage())
        return 0
    if not arguments or arguments[0] not in VERBS:
        return _complain(usage(), status=2)
    try:
        return VERBS[arguments[0]].action(this_checkout(), arguments[1:])
    except SetUpFailed as failed:
        return _complain(str(failed))
    except KeyboardInterrupt:
        return _complain("Stopped. Run the same command again to continue.", status=130)


def usage() -> str:
    width = max(len(verb.usage) for verb in VERBS.values())
    lines = [f"  python3 -m installer {verb.usage:<{width}}  {verb.purpose}" for verb in VERBS.values()]
    return "\n".join(["Usage:", *lines])


def run(checkout: Checkout, arguments: list[str]) -> int:
    """Replace this process by Idlehive: its window, or contributing in this terminal if there is no display."""
    screen = has_display(sys.platform, os.environ)
    environment.ensure(checkout, {"screen"} if screen else set(), sys.stderr)
    passed_on = app_arguments(screen, arguments)
    if passed_on != arguments:
        print("No display here: contributing in this terminal. Ctrl-C stops it.", file=sys.stderr, flush=True)
    os.execv(checkout.python, [str(checkout.python), "-m", "app", *passed_on])


def setup(checkout: Checkout, arguments: list[str]) -> int:
    if arguments:
        return _takes_none("setup", arguments)
    environment.ensure(checkout, {"screen"}, sys.stderr)
    return 0


def test(checkout: Checkout, arguments: list[str]) -> int:
    environment.ensure(checkout, {"screen", "development"}, sys.stderr)
    return 0 if checks.run_all(checkout, arguments) else 1


def screenshots(checkout: Checkout, arguments: list[str]) -> int:
    if arguments:
        return _takes_none("screenshots", arguments)
    environment.ensure(checkout, {"screen", "development"}, sys.stderr)
    pictures = checkout.root / "docs" / "pictures"
    commands = (["tests.gallery", str(pictures / "pages")], ["tests.screenshots", str(pictures / "practice")])
    return max(
        subprocess.run([str(checkout.python), "-m", *command], cwd=checkout.root, check=False).returncode
        for command in commands
    )


def build(checkout: Checkout, arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m installer build")
    parser.add_argument("kind", choices=packaging.KINDS)
    parser.add_argument("--out", type=Path, default=checkout.root / "dist", help="where the package is written (dist)")
    parser.add_argument("--version", help="another version than the project's, to try an upgrade")
    asked = parser.parse_args(arguments)
    environment.ensure(checkout, set(), sys.stderr)
    made = packaging.build(checkout, asked.kind, asked.out, asked.version)
    print(f"{made} ({made.stat().st_size / 1e6:.1f} MB)")
    return 0


def release(checkout: Checkout, arguments: list[str]) -> int:
    environment.ensure(checkout, set(), sys.stderr)
    command = [str(checkout.python), "-m", "core.release.publish", *arguments]
    return subprocess.run(command, cwd=checkout.root, check=False).returncode


def lock(checkout: Checkout, arguments: list[str]) -> int:
    if arguments:
        return _takes_none("lock", arguments)
    environment.ensure(checkout, set(), sys.stderr)
    locks.renew(checkout)
    locks.renew_others(checkout)
    root_image.renew(checkout)
    return 0


def has_display(system: str, variables: Mapping[str, str]) -> bool:
    """Whether a window can be opened; `system` is as in `sys.platform`."""
    return system == "darwin" or bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY"))


def app_arguments(screen: bool, arguments: list[str]) -> list[str]:
    """Arguments for the app. Without a screen and without a command, the app contributes in the terminal."""
    if screen or (arguments and not arguments[0].startswith("-")):
        return arguments
    return ["contribute", *arguments]


def _takes_none(verb: str, arguments: list[str]) -> int:
    return _complain(f"{verb} takes no arguments, not even {arguments[0]}.", status=2)


def _complain(sentence: str, status: int = 1) -> int:
    print(sentence, file=sys.stderr)
    return status


VERBS = {
    "run": Verb("run [ARGUMENT ...]", "set up, then open Idlehive (no display: contribute in the terminal)", run),
    "test": Verb("test [--all] [PYTEST ARGUMENT ...]", "set up, then run all checks; --all adds the slow tests", test),
    "setup": Verb("setup", "set up only", setup),
    "build": Verb("build deb|portable|dmg|exe [--out FOLDER]", "set up, then build a package for volunteers", build),
    "release": Verb("release key|sign ...", "set up, then write a signing key, or sign the release file", release),
    "lock": Verb("lock", "renew the locks of what packages carry and of the compute runtime", lock),
    "screenshots": Verb("screenshots", "set up, then take screenshots of all pages and a practice run", screenshots),
}

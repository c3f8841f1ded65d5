"""The root file system for sessions on Windows, tried on Linux: set up and used through a stand-in for wsl.exe.

    python -m pytest -m slow tests/packaging/test_wsl_image.py -s

It needs root, and the sources of the pinned packages.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from core.api.installation.compute_runtime import ComputeRuntime
from core.api.intent import Contribute
from core.client.installation import core_command, core_environment, version
from core.client.profile import Profile
from core.runtime import in_wsl
from core.runtime.store import StoreInWsl
from installer import pip_settings
from installer.bundle.windows import root_image
from installer.checkout import Checkout
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = ROOT / "tests" / "fakes" / "wsl" / "wsl_distribution.py"
BUILT = 1_750_000_000
pytestmark = [
    pytest.mark.slow,
    pytest.mark.root,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root"),
    pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed"),
]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return root_image.build(Checkout(ROOT), tmp_path_factory.mktemp("image"), version(), BUILT)


@pytest.fixture
def computer(tmp_path: Path, short_folder: Path, image: Path) -> Iterator[dict[str, str]]:
    """The variables of a computer whose wsl.exe is the stand-in; the distribution is in `tmp_path`."""
    listing = subprocess.run(["python3", "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    wheels = [str(folder) for folder in pip_settings.link_folders(pip_settings.parse(listing.stdout))]
    yield {
        "WSL_PROGRAM": f"{sys.executable} {STAND_IN}",
        "WSL_IMAGE": str(image),
        "WSL_ROOT": str(tmp_path / "distribution"),
        "WSL_SHARED": ":".join([*wheels, str(short_folder), str(ROOT / "resources" / "practice")]),
        "WSLENV": "UV_FIND_LINKS:SSL_CERT_FILE",
        "UV_FIND_LINKS": ",".join(wheels),
        # The stand-in gives the distribution what this machine trusts.
        "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
    }
    shutil.rmtree(tmp_path / "distribution", ignore_errors=True)


def test_two_builds_of_the_image_give_the_same_bytes(image: Path, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        second = root_image.build(Checkout(ROOT), tmp_path, version(), BUILT)
    finally:
        os.umask(before)
    assert second.read_bytes() == image.read_bytes()


def test_from_the_image_to_an_epoch_an_update_and_removal(
    computer: dict[str, str], tmp_path: Path, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, distribution = Profile(short_folder), Path(computer["WSL_ROOT"])
    steps = set_up(profile, computer)
    assert steps[0] == "import"
    assert {"downloading", "testing"} <= set(steps)
    contribute(RunningEngine(profile, tmp_path), computer)

    in_wsl.marker(profile.compute).write_text('{"version": "0.0.9"}')
    (distribution / root_image.HOME / "python/bin/python3").unlink()
    assert set_up(profile, computer) == ["unpack", None], "the libraries stay"

    for name, value in computer.items():
        monkeypatch.setenv(name, value)
    store = StoreInWsl(profile.compute)
    store.remove()
    store.sweep(keep_cache=False)
    assert not distribution.exists()


def set_up(profile: Profile, computer: dict[str, str]) -> list[str | None]:
    """What the engine of a package for Windows runs after consent; the steps that it reports."""
    profile.prepare()
    command = core_command("core.runtime.in_wsl", str(profile.compute))
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**core_environment(), **computer}, check=False
    )
    reports = [msgspec.json.decode(line, type=ComputeRuntime) for line in done.stdout.splitlines()]
    assert reports[-1].ready, reports[-1]
    return [report.step for report in reports]


def contribute(engine: RunningEngine, computer: dict[str, str]) -> None:
    engine.trainer = engine.host = None
    engine.wsl, engine.wsl_program = computer, STAND_IN
    try:
        engine.start().tell(Contribute())
        wait_for(lambda: engine.snapshot().progress.epoch >= 1, 300, "an epoch", every=0.5)
        assert engine.quit() == 0
        wait_for(lambda: not inside(Path(computer["WSL_ROOT"])), 20, "the end of the session")
    except BaseException:
        for log in engine.home.logs.glob("*"):
            print(f"{log.name}:\n{log.read_text()[-6000:]}")
        raise
    finally:
        engine.clean_up()


def inside(root: Path) -> list[str]:
    """The processes of the distribution."""
    found = Path("/proc").glob("[0-9]*/root")
    return [str(link) for link in found if _target(link) == root]


def _target(link: Path) -> Path | None:
    try:
        return link.readlink()
    except OSError:  # it has ended
        return None

"""The set-up of WSL on Windows, by a stand-in for wsl.exe that keeps what was set up."""

import io
import json
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.api.installation.compute_runtime import ComputeRuntime
from core.api.message import Message
from core.client.installation import core_command, core_environment, version
from core.runtime import failures, in_wsl
from core.runtime.store import StoreInWsl

_STAND_IN = Path(__file__).parents[1] / "fakes" / "wsl" / "wsl_setup.py"
_REPORTS = ('{"step": "downloading", "done": 5, "total": 10, "build": "cuda"}', '{"ready": true, "build": "cuda"}')


@dataclass
class Windows:
    """A computer with Windows, as far as the set-up sees it."""

    folder: Path

    @property
    def compute(self) -> Path:
        return self.folder / "compute"

    @property
    def image(self) -> Path:
        return self.folder / "root.tar"

    def has(self, **changes: Any) -> None:
        usual = {
            "installed": True,
            "needs_restart": False,
            "distributions": {"Ubuntu": 2},
            "unpacked": "",
            "gpus": ["NVIDIA GeForce RTX 3060, 12288"],
            "reports": _REPORTS,
            "refuses": {},
            "calls": [],
        }
        (self.folder / "state.json").write_text(json.dumps({**usual, **changes}))

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "state.json").read_text())
        return found

    def calls(self) -> list[str]:
        """The first word of each, without questions."""
        asked = ("--status", "--list")
        return [call[0] for call in self.state()["calls"] if call[0] not in asked and "--version" not in call[3:]]

    def installations(self) -> list[list[str]]:
        """What follows the folder in each command that installs the libraries."""
        found = [call for call in self.state()["calls"] if "core.runtime" in call]
        return [call[call.index("core.runtime") + 2 :] for call in found]

    def variables(self) -> dict[str, str]:
        program = f"{sys.executable} {_STAND_IN}"
        state = str(self.folder / "state.json")
        return {"WSL_PROGRAM": program, "WSL_STATE": state, "WSL_IMAGE": str(self.image)}

    def set_up(self, proxy: bytes = b'{"choice": "none"}\n') -> list[ComputeRuntime]:
        """What is reported, from the first line to the last."""
        done = subprocess.run(
            core_command("core.runtime.in_wsl", str(self.compute)),
            input=proxy,
            stdout=subprocess.PIPE,
            env={**core_environment(), **self.variables()},
            check=False,
        )
        reports = [msgspec.json.decode(line, type=ComputeRuntime) for line in done.stdout.splitlines()]
        assert (done.returncode == 0) is reports[-1].ready
        return reports


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    found = Windows(tmp_path)
    with tarfile.open(found.image, "w") as archive:
        archive.addfile(tarfile.TarInfo(f"idlehive {version()}"), io.BytesIO())
    found.has()
    return found


def test_a_computer_without_wsl_is_set_up_from_the_beginning_to_the_libraries(windows: Windows) -> None:
    windows.has(installed=False)
    reports = windows.set_up()
    assert [report.step for report in reports] == ["install_wsl", "import", "downloading", None]
    assert reports[-1] == ComputeRuntime(ready=True, build="cuda", gpus=("NVIDIA GeForce RTX 3060",))
    assert windows.state()["distributions"] == {"Ubuntu": 2, "Idlehive": 2}
    assert windows.state()["proxy"] == '{"choice": "none"}\n'
    assert StoreInWsl(windows.compute).current is not None


def test_where_no_proxy_is_given_none_is_passed_on(windows: Windows) -> None:
    """`core.runtime` reads an empty line as a broken one."""
    assert windows.set_up(proxy=b"")[-1].ready
    assert windows.state()["proxy"] == ""


def test_what_is_there_is_not_done_again(windows: Windows) -> None:
    windows.set_up()
    before = len(windows.calls())
    assert [report.step for report in windows.set_up()] == ["downloading", None]
    assert set(windows.calls()[before:]) == {"-d"}


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"distributions": {"Idlehive": 1}}, "convert"),
        ({"distributions": {"Idlehive": 2}, "unpacked": "idlehive 0.0.9"}, "unpack"),
        ({"distributions": {}}, "import"),
    ],
)
def test_only_what_is_missing_is_done(windows: Windows, changes: dict[str, Any], first: str) -> None:
    windows.has(**changes)
    assert windows.set_up()[0].step == first


def test_a_restart_that_windows_needs_is_named_and_the_next_start_goes_on(windows: Windows) -> None:
    windows.has(installed=False, needs_restart=True)
    assert windows.set_up()[-1].failure == Message("wsl_restart")
    assert in_wsl.finished(windows.compute) is None
    windows.has()
    assert windows.set_up()[-1].ready


@pytest.mark.parametrize(
    ("code", "said", "kind"),
    [
        (
            1,
            "Bitte aktivieren.\r\nError code: Wsl/Service/CreateVm/HCS/HCS_E_HYPERV_NOT_INSTALLED",
            "no_virtualisation",
        ),
        (1, "WslRegisterDistribution failed with error: 0x80370102", "no_virtualisation"),
        (1, "Der Vorgang wurde durch den Benutzer abgebrochen.\r\nError code: 0x800704c7", "not_allowed"),
        (1, "Error code: Wsl/InstallDistro/E_ACCESSDENIED", "not_allowed"),
        (1, "Error code: Wsl/Service/RegisterDistro/ERROR_DISK_FULL", "failed"),
    ],
)
def test_a_step_that_fails_is_a_sentence_and_the_next_try_goes_on(
    windows: Windows, code: int, said: str, kind: str
) -> None:
    windows.has(refuses={"--import": [code, said]})
    failure = windows.set_up()[-1].failure
    assert failure is not None
    assert failure.kind == f"wsl_{kind}"
    assert windows.set_up()[-1].ready


def test_no_card_is_said_as_such(windows: Windows) -> None:
    windows.has(gpus=[], reports=['{"ready": true}'])
    assert windows.set_up()[-1] == ComputeRuntime(ready=True, gpus=())


def test_only_a_repair_installs_libraries_again_that_will_do(windows: Windows) -> None:
    windows.set_up()
    assert windows.installations() == [["--update"]]
    windows.set_up()
    assert windows.installations()[1:] == [[]]
    in_wsl.marker(windows.compute).write_text('{"version": "0.0.9"}')
    windows.has(**{**windows.state(), "unpacked": "idlehive 0.0.9"})
    assert windows.set_up()[0].step == "unpack"
    assert windows.installations()[2:] == [["--update"]]


def test_a_repair_that_fails_leaves_what_was_there(windows: Windows) -> None:
    windows.set_up()
    windows.has(**{**windows.state(), "reports": ['{"step": "downloading"}']})
    assert windows.set_up()[-1].failure is not None
    assert StoreInWsl(windows.compute).current is not None


def test_an_image_that_the_package_lacks_is_named(windows: Windows) -> None:
    windows.image.unlink()
    failure = windows.set_up()[-1].failure
    assert failure is not None
    assert failure.kind == "wsl_no_image"


@pytest.mark.parametrize("reports", [['{"step": "downloading"}'], ["no JSON"]])
def test_an_installation_that_breaks_off_inside_is_no_success(windows: Windows, reports: list[str]) -> None:
    windows.has(reports=reports)
    assert windows.set_up()[-1].failure is not None
    assert in_wsl.finished(windows.compute) is None


def test_what_is_there_is_used_on_although_a_repair_fails(windows: Windows) -> None:
    windows.set_up()
    there = {"distributions": {"Idlehive": 2}, "unpacked": f"idlehive {version()}"}
    windows.has(**there, reports=['{"step": "downloading"}'])
    assert windows.set_up()[-1].failure == Message("runtime_interrupted")
    assert StoreInWsl(windows.compute).current is not None


def test_what_was_set_up_no_longer_counts_once_a_part_of_it_is_missing(windows: Windows) -> None:
    windows.set_up()
    windows.has(distributions={}, refuses={"--import": [1, "Error code: Wsl/Service/RegisterDistro/ERROR_DISK_FULL"]})
    assert windows.set_up()[-1].failure is not None
    assert StoreInWsl(windows.compute).current is None


def test_removing_deletes_the_distribution_and_no_other(windows: Windows, monkeypatch: pytest.MonkeyPatch) -> None:
    windows.set_up()
    for name, value in windows.variables().items():
        monkeypatch.setenv(name, value)
    store = StoreInWsl(windows.compute)
    store.agree()
    store.remove()
    assert (store.current, store.has_consent, store.has_leftovers(keep_cache=False)) == (None, False, True)
    store.sweep(keep_cache=False)
    assert windows.state()["distributions"] == {"Ubuntu": 2}
    assert not store.has_leftovers(keep_cache=False)


@pytest.mark.parametrize(
    ("code", "kind"), [(3010, "wsl_restart"), (740, "wsl_not_allowed"), (1223, "wsl_not_allowed"), (1, "wsl_failed")]
)
def test_codes_of_windows_itself_count_where_the_text_is_in_any_language(code: int, kind: str) -> None:
    """Linux has no exit codes above 255, so no stand-in can give them."""
    assert failures.explain_wsl("Der angeforderte Vorgang erfordert erhöhte Rechte.", code).kind == kind

"""The installer's decisions, which need no machine."""

import json
from pathlib import Path

import pytest

from installer import pip_settings, stamp, torch_build
from installer.system_packages import command_line, is_debian_like, missing_libraries
from installer.torch_build import TorchBuild
from tests.installer.machine import Machine


@pytest.mark.parametrize(
    ("system", "driver", "local_wheel", "expected"),
    [
        ("Linux", False, None, TorchBuild("torch==2.13.0", "cpu")),
        ("Linux", True, None, TorchBuild("torch==2.13.0", "auto")),
        ("Linux", True, "2.13.0+cpu", TorchBuild("torch==2.13.0+cpu", None)),
        ("Darwin", False, None, TorchBuild("torch==2.13.0", None)),
    ],
)
def test_torch_follows_the_local_wheel_then_the_driver(
    system: str, driver: bool, local_wheel: str | None, expected: TorchBuild
) -> None:
    assert torch_build.choose("2.13.0", system, driver, local_wheel) == expected


def test_a_torch_that_is_not_to_be_had_falls_back_step_by_step() -> None:
    cpu = torch_build.fallback(TorchBuild("torch==2.13.0", "auto"))
    assert cpu == TorchBuild("torch==2.13.0", "cpu")
    general = torch_build.fallback(cpu)
    assert general == TorchBuild("torch==2.13.0", None)
    assert torch_build.fallback(general) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", "2.13.0+cpu"),
        ("torch-2.13.0%2Bcpu-cp311-cp311-linux_x86_64.whl", "2.13.0+cpu"),
        ("torch-2.13.0-1-cp311-cp311-linux_x86_64.whl", "2.13.0"),
        ("torch-2.12.0+cpu-cp311-cp311-linux_x86_64.whl", None),
        ("torch-2.13.0+cpu-cp312-cp312-linux_x86_64.whl", None),
        ("torch-2.13.0+cpu-cp311-cp311-linux_aarch64.whl", None),
        ("torch-2.13.0.tar.gz", None),
        ("torchvision-2.13.0-cp311-cp311-linux_x86_64.whl", None),
    ],
)
def test_a_wheel_local_must_fit_version_python_and_machine(name: str, expected: str | None) -> None:
    assert torch_build.local_wheel_version("2.13.0", [name], "cp311", "x86_64") == expected


def test_a_cpu_build_gives_way_once_there_is_a_driver() -> None:
    cuda, cpu = TorchBuild("torch==2.13.0", "auto"), TorchBuild("torch==2.13.0", "cpu")
    assert torch_build.must_replace("2.13.0+cpu", cuda)
    assert not torch_build.must_replace("2.13.0+cu130", cuda)
    assert not torch_build.must_replace(None, cuda)
    assert not torch_build.must_replace("2.13.0+cpu", cpu)


def test_missing_libraries_become_the_line_to_type() -> None:
    packages = missing_libraries({"libA.so.1": "liba1", "libB.so.2": "libb2"}, lambda soname: soname != "libB.so.2")
    assert command_line(packages) == "sudo apt-get install libb2"


@pytest.mark.parametrize(
    ("os_release", "expected"),
    [
        ({"ID": "debian"}, True),
        ({"ID": "ubuntu", "ID_LIKE": "debian"}, True),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, True),
        ({"ID": "fedora"}, False),
        ({}, False),
    ],
)
def test_apt_is_for_debian_and_its_descendants(os_release: dict[str, str], expected: bool) -> None:
    assert is_debian_like(os_release) is expected


def test_pip_settings_override_as_in_pip() -> None:
    listing = (
        "global.index-url='https://a.example/simple'\n:env:.index-url='https://b.example/simple'\nglobal.cert='/c.pem'"
    )
    assert pip_settings.parse(listing) == {"index-url": "https://b.example/simple", "cert": "/c.pem"}


def test_uv_looks_where_pip_looks_and_passes_over_places_that_do_not_exist(tmp_path: Path) -> None:
    settings = {
        "index-url": "https://a.example/simple",
        "extra-index-url": f"\nfile://{tmp_path}\nfile:///no/such/place",
        "find-links": f"{tmp_path} /no/such/place",
        "cert": "/c.pem",
    }
    assert pip_settings.for_uv(settings, {"SSL_CERT_FILE": "/own.pem"}) == {
        "UV_DEFAULT_INDEX": "https://a.example/simple",
        "UV_INDEX": f"file://{tmp_path}",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": str(tmp_path),
    }
    assert pip_settings.link_folders(settings) == [tmp_path]


def test_whatever_decides_what_is_installed_changes_the_fingerprint() -> None:
    project: dict[str, object] = {"project": {"dependencies": ["a==1"]}, "tool": {"ruff": {}}}
    usual = stamp.fingerprint("a==1", project, "/here", False)
    assert stamp.fingerprint("a==2", project, "/here", False) != usual
    assert stamp.fingerprint("a==1", {"project": {"dependencies": []}}, "/here", False) != usual
    assert stamp.fingerprint("a==1", project, "/elsewhere", False) != usual
    assert stamp.fingerprint("a==1", project, "/here", True) != usual


def test_the_settings_of_tools_do_not_change_the_fingerprint() -> None:
    usual = stamp.fingerprint("", {"project": {}, "tool": {"ruff": {}}}, "/here", False)
    assert stamp.fingerprint("", {"project": {}, "tool": {"mypy": {}}}, "/here", False) == usual


@pytest.mark.parametrize("text", ["", "not json", "[]", json.dumps({"fingerprint": "of something else"})])
def test_a_stamp_that_is_not_ours_is_no_stamp(machine: Machine, text: str) -> None:
    machine.checkout.venv.mkdir()
    (machine.checkout.venv / "idlehive-stamp.json").write_text(text, encoding="utf-8")
    assert not stamp.is_current(machine.checkout, ["screen"])
    assert stamp.parts(machine.checkout) == set()

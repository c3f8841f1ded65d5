"""The whole set-up, in real processes on a pretended machine."""

import fcntl
import os
import platform
import re
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from tests.installer.machine import Machine, failures

NO_NETWORK = """error: Request failed after 3 retries in 5.2s
  cause: Failed to fetch: https://name:secret@packages.example/simple/rich/
  cause: dns error
"""
NO_TRUST = """  cause: Failed to fetch: `https://packages.example/simple/rich/`
  cause: invalid peer certificate: UnknownIssuer
"""
NO_SPACE = "error: failed to write to `/x`: No space left on device (os error 28)"
NO_VERSION = """error: No solution found when resolving dependencies
  cause: Because pyside6-essentials==6.12.0 has no wheels with a matching platform tag
"""


def test_the_first_run_sets_up_and_becomes_the_app(machine: Machine) -> None:
    result = machine.run("run", "--minimised")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "python -m app --minimised\n"
    assert "Setting up Idlehive" in result.stderr
    assert "installing 88 packages" in result.stderr
    assert "Ready after" in result.stderr


def test_the_second_run_is_quick_and_silent(machine: Machine) -> None:
    machine.run("setup")
    machine.calls()
    started = time.monotonic()
    result = machine.run("setup")
    assert time.monotonic() - started < 2  # 0.1 s on an idle machine
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert machine.calls() == []


def test_without_a_display_it_contributes_in_the_terminal(machine: Machine) -> None:
    result = machine.run("run", "--for", "2h", DISPLAY="")
    assert result.stdout == "python -m app contribute --for 2h\n"
    assert "No display here: contributing in this terminal." in result.stderr


def test_a_command_of_the_app_is_passed_on_as_it_is_without_a_display(machine: Machine) -> None:
    result = machine.run("run", "status", "--json", DISPLAY="")
    assert result.stdout == "python -m app status --json\n"
    assert "contributing" not in result.stderr


def test_a_machine_without_a_display_needs_no_libraries_of_a_window(machine: Machine) -> None:
    result = machine.run("run", DISPLAY="", STUB_MISSING_LIBRARIES="libEGL.so.1")
    assert result.returncode == 0, result.stderr
    assert not any("PySide6" in call for call in machine.calls())


def test_a_changed_lock_brings_the_packages_up_to_date(machine: Machine) -> None:
    machine.run("setup")
    machine.calls()
    machine.change_lock()
    machine.run("setup")
    calls = machine.calls()
    assert any(call.startswith("uv pip install") for call in calls)


def test_the_checks_keep_what_a_run_has_set_up_and_the_other_way_round(machine: Machine) -> None:
    machine.run("test")
    machine.calls()
    machine.run("setup")
    assert machine.calls() == []


def test_an_interrupted_set_up_starts_again(machine: Machine) -> None:
    process = machine.start("setup", STUB_HANGS="uv pip install")
    machine.wait_for_call("uv pip install")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does on Ctrl-C
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.endswith("Stopped. Run the same command again to continue.\n")
    left_over = machine.checkout.site_packages / "half_a_package"
    left_over.touch()

    result = machine.run("setup")
    assert result.returncode == 0, result.stderr
    assert not left_over.exists()


def test_an_environment_whose_python_is_gone_is_created_again(machine: Machine) -> None:
    machine.run("setup")
    machine.checkout.python.unlink()
    result = machine.run("run")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "python -m app\n"


def test_a_package_that_has_gone_missing_is_brought_back(machine: Machine) -> None:
    machine.run("setup")
    (machine.checkout.site_packages / "torch-2.13.0.dist-info").rmdir()
    machine.calls()
    machine.run("setup")
    assert any(call.startswith("uv pip install") for call in machine.calls())


def test_an_environment_that_has_ceased_to_work_is_created_again(machine: Machine) -> None:
    machine.run("setup")
    machine.change_lock()
    machine.calls()
    result = machine.run("setup", STUB_FAILURES=failures(("-c import apscheduler", 1, "ImportError: half a file")))
    assert result.returncode == 0, result.stderr
    assert "The environment is damaged; creating it again." in result.stderr
    assert sum(call.startswith("uv pip install") for call in machine.calls()) == 2


def test_an_environment_that_never_works_ends_in_a_sentence(machine: Machine) -> None:
    result = machine.run("setup", STUB_FAILURES=failures(("-c import apscheduler", 9, "ImportError: half a file")))
    assert result.returncode == 1
    assert "Could not set up Idlehive: ImportError: half a file" in result.stderr
    assert sum(call.startswith("uv pip install") for call in machine.calls()) == 1


def test_a_library_that_another_linux_lacks_is_named_and_does_not_stop(machine: Machine) -> None:
    trouble = "ImportError: libEGL.so.1: cannot open shared object file: No such file or directory"
    result = machine.run(
        "setup",
        STUB_DISTRIBUTION="fedora",
        STUB_MISSING_LIBRARIES="libEGL.so.1",
        STUB_FAILURES=failures(("PySide6.QtWidgets", 9, trouble)),
    )
    assert result.returncode == 0, result.stderr
    assert "by their Debian names: libegl1. Continuing without them." in result.stderr
    assert "libEGL.so.1 is missing on this system" in result.stderr


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (NO_NETWORK, "packages.example cannot be reached. Check the network connection"),
        (NO_TRUST, "the certificate of packages.example is not trusted here"),
        (NO_SPACE, "the disk is full"),
        (NO_VERSION, "pyside6-essentials==6.12.0 has no build for this machine and Python."),
        ("error: Failed to build `varint==1.0.2`", "varint==1.0.2 has no ready-made package"),
    ],
)
def test_a_failure_is_one_sentence_and_names_the_log(machine: Machine, output: str, words: str) -> None:
    result = machine.run("setup", STUB_FAILURES=failures(("uv pip install", 9, output), ("pip install -c", 9, output)))
    assert result.returncode == 1
    assert words in result.stderr
    assert f"Details: {machine.checkout.log}" in result.stderr
    assert "Traceback" not in result.stderr
    assert output.splitlines()[0] in machine.checkout.log.read_text(encoding="utf-8")


def test_after_a_failure_the_same_command_goes_on(machine: Machine) -> None:
    assert machine.run("setup", STUB_FAILURES=failures(("uv pip install", 9, NO_NETWORK))).returncode == 1
    assert machine.run("setup").returncode == 0
    assert not machine.checkout.incomplete.exists()


def test_where_torch_has_no_index_in_reach_the_usual_one_is_taken(machine: Machine) -> None:
    result = machine.run("setup", STUB_FAILURES=failures(("--torch-backend", 9, NO_NETWORK)))
    assert result.returncode == 0, result.stderr
    assert "trying the general torch" in result.stderr
    assert "--torch-backend" not in [call for call in machine.calls() if call.startswith("uv pip install")][-1]


def test_a_torch_wheel_local_is_used_and_no_index_of_torch_asked(machine: Machine) -> None:
    tag = f"cp3{sys.version_info.minor}"
    wheels = machine.folder / "wheels"
    wheels.mkdir()
    (wheels / f"torch-{machine.checkout.torch_version}+cpu-{tag}-{tag}-linux_{platform.machine()}.whl").touch()
    result = machine.run("setup", STUB_PIP_CONFIG=f":env:.find-links='{wheels}'")
    assert result.returncode == 0, result.stderr
    install = next(call for call in machine.calls() if call.startswith("uv pip install"))
    assert f"torch=={machine.checkout.torch_version}+cpu" in install
    assert "--torch-backend" not in install


def test_without_uv_for_this_machine_pip_does_it(machine: Machine) -> None:
    trouble = "ERROR: No matching distribution found for uv==0.13.8"
    result = machine.run("setup", STUB_FAILURES=failures(("--retries 2 uv==", 9, trouble)))
    assert "trying pip, which takes longer" in result.stderr
    assert any(call.startswith("python -m pip install -c") for call in machine.calls())


def test_two_set_ups_at_once_wait_for_each_other(machine: Machine) -> None:
    machine.checkout.lock.parent.mkdir()
    with machine.checkout.lock.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = machine.start("setup")
        assert process.stderr
        assert process.stderr.readline() == "Another set-up is running here; waiting for it to end.\n"
        assert not machine.checkout.venv.exists()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Ready after" in err


def test_a_checkout_that_cannot_be_written_is_said_plainly(machine: Machine) -> None:
    machine.checkout.log.parent.write_text("a file where a folder should be", encoding="utf-8")
    result = machine.run("setup")
    assert result.returncode == 1
    assert result.stderr.startswith("Could not set up Idlehive: ")
    assert "Traceback" not in result.stderr


def test_missing_packages_are_one_line_to_type_for_someone_who_is_not_root(machine: Machine) -> None:
    result = machine.run("setup", STUB_MISSING_LIBRARIES="libxcb-cursor.so.0 libEGL.so.1")
    assert result.returncode == 1
    assert result.stderr.endswith("  sudo apt-get install libegl1 libxcb-cursor0\n")
    assert machine.calls() == []


def test_a_python_without_venv_is_treated_like_any_missing_package(machine: Machine) -> None:
    result = machine.run("run", DISPLAY="", STUB_NO_ENSUREPIP="1")
    assert result.returncode == 1
    assert re.search(r"sudo apt-get install python3(\.\d+)?-venv\n$", result.stderr)


def test_the_checks_ask_for_their_programs(machine: Machine) -> None:
    (machine.programs / "xdotool").unlink()
    (machine.programs / "Xvfb").unlink()
    result = machine.run("test")
    assert result.returncode == 1
    assert result.stderr.endswith("  sudo apt-get install xdotool xvfb\n")


def test_root_gets_missing_packages_installed_with_fresh_lists_if_need_be(machine: Machine) -> None:
    trouble = "E: Unable to locate package libegl1"
    result = machine.run(
        "setup",
        STUB_USER="0",
        STUB_MISSING_LIBRARIES="libEGL.so.1",
        STUB_FAILURES=failures(("apt-get install", 1, trouble)),
    )
    assert result.returncode == 0, result.stderr
    calls = [call for call in machine.calls() if call.startswith("apt-get")]
    assert [call.split()[1] for call in calls] == ["install", "update", "install"]
    assert all(call.endswith(" libegl1") for call in calls if "install" in call)


def test_a_failing_apt_get_stops_the_set_up(machine: Machine) -> None:
    result = machine.run(
        "setup",
        STUB_USER="0",
        STUB_MISSING_LIBRARIES="libEGL.so.1",
        STUB_FAILURES=failures(("apt-get", 9, "E: Unable to locate package libegl1")),
    )
    assert result.returncode == 1
    assert "E: Unable to locate package libegl1" in result.stderr


def test_a_mac_needs_no_system_packages(machine: Machine) -> None:
    result = machine.run("setup", STUB_SYSTEM="Darwin", STUB_MISSING_LIBRARIES="libEGL.so.1")
    assert result.returncode == 0, result.stderr


def test_an_unreachable_index_is_named_by_the_real_tools_too(tmp_path: Path, machine: Machine) -> None:
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{nobody_listens.getsockname()[1]}"
        real = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull}
        machine.environment = real | {"PIP_INDEX_URL": f"http://user:secret@{host}/simple"}
        result = machine.run("run", DISPLAY="")
    assert result.returncode == 1
    assert f"{host} cannot be reached" in result.stderr
    assert "secret" not in result.stderr
    assert "secret" not in machine.checkout.log.read_text(encoding="utf-8")

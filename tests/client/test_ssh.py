"""A real sshd on loopback, and a second profile behind it."""

import signal
import subprocess
from pathlib import Path
from types import NoneType

import pytest

from core.api import protocol
from core.api.errors import EngineGone, UsageError, WorldError
from core.api.intent import Pause
from core.api.machines import Machine, checked_machine
from core.api.protocol import GetSnapshot, Quit
from core.api.snapshot import Snapshot
from core.client import ssh
from core.client.engine_client import EngineClient
from core.client.machines import Machines
from core.client.profile import Profile
from tests.fakes.scripted_engine import ScriptedEngine
from tests.fakes.ssh_server import SshServer, needs_sshd

LAB = Machine("workshop", "ssh://lab")
HELLO = '{"type":"Hello","version":"9.0","started":false}'


@pytest.fixture
def near(tmp_path: Path) -> Profile:
    return Profile(tmp_path / "near").at(LAB)


@needs_sshd
def test_the_engine_of_another_machine_answers_commands_and_sends_what_changes(
    ssh_server: SshServer, far: Profile, near: Profile
) -> None:
    with ScriptedEngine(far) as engine, EngineClient.connect(near) as client:
        client.request(Pause(60.0), NoneType)
        assert engine.received(Pause) == [Pause(60.0)]
        messages = client.messages()
        next(messages)
        engine.show(Snapshot("contributing", project="bees"))
        assert any(
            isinstance(each, Snapshot) and each.project == "bees" for each, _ in zip(messages, range(3), strict=False)
        )


@needs_sshd
def test_an_engine_starts_there_only_on_request_and_outlives_the_connection(
    ssh_server: SshServer, near: Profile
) -> None:
    with pytest.raises(EngineGone, match="machine_engine_not_running"):
        EngineClient.connect(near)
    client, started = EngineClient.open(near)
    with client:
        pid = client.request(GetSnapshot(), Snapshot).engine_pid
    assert started
    again, started = EngineClient.open(near)
    with again:
        assert again.request(GetSnapshot(), Snapshot).engine_pid == pid
        again.request(Quit(), NoneType)
    assert not started


@needs_sshd
def test_a_connection_that_breaks_is_told_from_an_engine_that_ends(
    ssh_server: SshServer, far: Profile, near: Profile
) -> None:
    with ScriptedEngine(far) as engine, EngineClient.connect(near) as client:
        engine.stop()
        with pytest.raises(EngineGone, match="machine_engine_ended"):
            client.request(GetSnapshot(), Snapshot)
    with ScriptedEngine(far), EngineClient.connect(near) as client:
        ssh_server.stop()
        with pytest.raises(EngineGone, match="machine_lost"):
            client.request(GetSnapshot(), Snapshot)


@needs_sshd
def test_each_way_in_which_it_fails_has_its_name(ssh_server: SshServer, far: Profile, near: Profile) -> None:
    known, authorized = ssh_server.known.read_text(), ssh_server.authorized.read_text()
    ssh_server.known.write_text("")
    assert failure(LAB) == "machine_host_unknown"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", ssh_server.folder / "other"], check=True)
    ssh_server.know(ssh_server.folder / "other.pub")
    assert failure(LAB) == "machine_host_changed"
    ssh_server.known.write_text(known)
    ssh_server.authorized.write_text("")
    assert failure(LAB) == "machine_key_refused"
    ssh_server.authorized.write_text(authorized)
    assert failure(Machine("lab", "ssh://lab/opt/nothing/idlehive")) == "machine_without_idlehive"
    assert failure(Machine("lab", "ssh://no-such-host.invalid")) == "machine_not_found"
    ssh_server.answer("exit 2")
    assert failure(LAB) == "machine_too_old"
    ssh_server.answer("echo It fell over. >&2; exit 1")
    assert failure(LAB) == "machine_engine_unusable"
    with pytest.raises(WorldError, match=r"machine_engine_unusable .*It fell over\.$"):
        ssh.fetch(LAB, "history", "export", "-", seconds=20.0)
    ssh_server.stop()
    assert failure(LAB) == "machine_unreachable"


@needs_sshd
def test_what_a_login_prints_is_skipped_and_another_version_is_named(ssh_server: SshServer, near: Profile) -> None:
    ssh_server.answer("""echo "Welcome to {lab}"; echo '{"type":"Hello","version":"9.0","started":false}'
read request; echo '{"type":"Reply","id":1,"result":{"state":"dancing"}}'""")
    with EngineClient.connect(near) as client, pytest.raises(WorldError, match="machine_other_version") as refused:
        client.request(GetSnapshot(), Snapshot)
    assert refused.value.message.params["there"] == "9.0"


@needs_sshd
def test_what_a_login_prints_is_no_part_of_what_is_fetched(ssh_server: SshServer) -> None:
    ssh_server.answer("""echo "Welcome to {lab}"; printf '{\\n"hours": []}'""")
    assert ssh.fetch(LAB, "history", "export", "-", seconds=20.0) == b'{\n"hours": []}'


@needs_sshd
def test_of_what_the_other_machine_says_of_a_failure_the_end_counts(ssh_server: SshServer) -> None:
    ssh_server.answer("head -c 300000 /dev/zero | tr '\\0' x >&2; echo >&2; echo It fell over. >&2; exit 1")
    with pytest.raises(WorldError, match="It fell over"):
        ssh.connect(LAB)
    with pytest.raises(WorldError, match="It fell over"):
        ssh.fetch(LAB, "history", seconds=20.0)


@needs_sshd
def test_a_machine_that_sends_without_end_fills_no_memory(
    ssh_server: SshServer, near: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(ssh, "LONGEST_DOCUMENT", 1 << 20)
    ssh_server.answer(f"echo '{HELLO}'; cat /dev/zero")
    with EngineClient.connect(near) as client, pytest.raises(WorldError, match="machine_sends_too_much"):
        client.request(GetSnapshot(), Snapshot)
    ssh_server.answer(f"""echo '{HELLO}'; yes '{{"type":"Snapshot","state":"idle"}}'""")
    with EngineClient.connect(near) as client, pytest.raises(WorldError, match="machine_sends_too_much"):
        client.request(GetSnapshot(), Snapshot)
    ssh_server.answer("cat /dev/zero")
    with pytest.raises(WorldError, match="machine_sends_too_much"):
        ssh.fetch(LAB, "history", seconds=20.0)
    ssh_server.answer("while echo .; do sleep 0.1; done")
    with pytest.raises(WorldError, match="machine_silent"):
        ssh.fetch(LAB, "history", seconds=1.0)


def test_without_ssh_that_is_said(near: Profile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert failure(LAB) == "ssh_missing"


def test_an_ssh_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "ssh"
    hello = '{"type":"Hello","version":"9.0","started":false}'
    program.write_text(f"#!/bin/sh\ntrap '' TERM\necho '{hello}'\nexec /bin/sleep 20\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ssh, "_END_TIMEOUT", 0.1)
    tunnel = ssh.connect(LAB)
    tunnel.close()
    assert tunnel._process.returncode == -signal.SIGKILL


def test_ssh_asks_nothing_and_forwards_nothing() -> None:
    line = ssh.command(Machine("lab", "ssh://ann@lab.example:2222/~/idle/idlehive"), "remote", "dial-stdio")
    assert {"BatchMode=yes", "ClearAllForwardings=yes", "-T", "-a", "-x"} <= set(line)
    assert line[-9:] == ["-l", "ann", "-p", "2222", "--", "lab.example", "~/idle/idlehive", "remote", "dial-stdio"]


@pytest.mark.parametrize(
    "address",
    [
        "", "ssh://", "http://lab", "ssh://-oProxyCommand=x", "ssh://-l@lab", "ssh://lab:0", "ssh://lab:99999", "ssh://a:secret@lab",
        "ssh://lab/bin/x;reboot", "ssh://lab/$(reboot)", "ssh://lab/a b", "ssh://lab?x", "la b",
    ],
)  # fmt: skip
def test_an_address_that_a_shell_or_ssh_could_misread_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="machine_address_unclear"):
        checked_machine("lab", address)


def test_the_list_keeps_its_order_and_its_names_apart(tmp_path: Path) -> None:
    machines = Machines(Profile(tmp_path / "new"))
    assert machines.all() == []
    with pytest.raises(UsageError, match="machine_unknown_yet"):
        machines.named("lab")
    machines.add("lab", "lab.example")
    machines.add("nas", "ssh://ann@nas:22")
    assert machines.named("lab").address == "ssh://lab.example"
    for name in ("lab", "a b", "", "-x"):
        with pytest.raises(UsageError):
            machines.add(name, "lab")
    assert machines.rename("lab", "workshop").address == "ssh://lab.example"
    with pytest.raises(UsageError, match="machine_name_taken"):
        machines.rename("workshop", "nas")
    assert [machine.name for machine in machines.all()] == ["workshop", "nas"]
    machines.remove("workshop")
    assert [machine.name for machine in Machines(Profile(tmp_path / "new")).all()] == ["nas"]


def test_a_list_that_cannot_be_read_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "machines.json"
    file.write_text("[{")
    with pytest.raises(WorldError, match="machines_unreadable"):
        Machines(Profile(tmp_path)).add("lab", "lab")
    assert file.read_text() == "[{"


def failure(machine: Machine) -> str:
    with pytest.raises(WorldError) as refused:
        ssh.connect(machine)
    return refused.value.message.kind

"""How far a session stands back, asked of the kernel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.client.installation import core_command, core_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's kernel")

PROGRAM = """
import os, threading
from core.system.priority import lower_priority
lower_priority()
def tell():
    print(os.sched_getscheduler(0) == os.SCHED_IDLE, os.getpriority(os.PRIO_PROCESS, 0))
tell()
thread = threading.Thread(target=tell)
thread.start()
thread.join()
if os.fork() == 0:
    tell()
    os._exit(0)
os.wait()
print(open("/proc/self/oom_score_adj").read().strip())
os.execvp("ionice", ["ionice", "-p", str(os.getpid())])
"""


def test_processor_disk_and_memory_come_last_and_threads_and_children_inherit_it() -> None:
    told = subprocess.run([sys.executable, "-uc", PROGRAM], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["True 19", "True 19", "True 19", "800", "idle"]


LATE = """
import os, threading, time
from core.system.priority import lower_priority
child = os.fork()
if child == 0:
    threading.Thread(target=time.sleep, args=(60,)).start()
    time.sleep(60)
done = threading.Event()
threading.Thread(target=done.wait).start()
while len(os.listdir(f"/proc/{child}/task")) < 2:
    time.sleep(0.01)
lower_priority()
for pid in (os.getpid(), child):
    threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    print(len(threads), {os.sched_getscheduler(one) == os.SCHED_IDLE for one in threads}, end=" ")
    print({os.getpriority(os.PRIO_PROCESS, one) for one in threads}, open(f"/proc/{pid}/oom_score_adj").read().strip())
done.set()
os.kill(child, 9)
"""


def test_what_has_begun_before_comes_last_too() -> None:
    told = subprocess.run([sys.executable, "-uc", LATE], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["2 {True} {19} 800", "2 {True} {19} 800"]


PRINT_GROUP = (
    "from core.system.priority import lower_priority as low; low(); print(open('/proc/self/autogroup').read())"
)


@pytest.mark.parametrize(("under_subreaper", "nice"), [(True, "19"), (False, "0")])
def test_the_group_of_a_session_stands_back_as_a_whole_but_never_somebodys_shell(
    tmp_path: Path, under_subreaper: bool, nice: str
) -> None:
    if not Path("/proc/self/autogroup").exists():
        pytest.skip("this kernel does not group tasks by session")
    subreaper = core_command("core.system.subreaper", str(tmp_path / "session"), "--") if under_subreaper else []
    command = [*subreaper, sys.executable, "-c", PRINT_GROUP]
    told = subprocess.run(
        command, capture_output=True, text=True, check=True, start_new_session=True, env=core_environment()
    )
    assert told.stdout.split()[-1] == nice


REFUSED = """
import os, sys
from core.system import priority
def refuse(*_):
    raise PermissionError
setattr(os, sys.argv[1], refuse)
priority.lower_priority()
print(os.sched_getscheduler(0) == os.SCHED_IDLE, os.getpriority(os.PRIO_PROCESS, 0))
print(open("/proc/self/oom_score_adj").read().strip())
"""


@pytest.mark.parametrize(
    ("call", "stands"), [("sched_setscheduler", "False 19"), ("setpriority", "True 0"), ("getsid", "True 19")]
)
def test_what_is_refused_is_left_as_it_is_and_all_else_is_done(call: str, stands: str) -> None:
    told = subprocess.run([sys.executable, "-uc", REFUSED, call], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == [stands, "800"]


PROMPT = """
import os
from core.system.priority import lower_priority, start_promptly
start_promptly()
print(os.sched_getscheduler(0) == os.SCHED_OTHER, os.getpriority(os.PRIO_PROCESS, 0))
lower_priority()
print(os.sched_getscheduler(0) == os.SCHED_IDLE, os.getpriority(os.PRIO_PROCESS, 0))
"""


def test_a_prompt_start_is_nice_enough_to_be_counted_apart_from_other_programs() -> None:
    told = subprocess.run([sys.executable, "-uc", PROMPT], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["True 1", "True 19"]


AGAIN = """
import os, subprocess
from core.system.priority import raise_all
own = {"user": 65534} if os.geteuid() == 0 else {}
sessions = [subprocess.Popen(["sleep", "60"], start_new_session=True, stdout=-3, **own) for _ in range(3)]
def groups():
    return [open(f"/proc/{session.pid}/autogroup").read().split()[-1] for session in sessions]
for session in sessions:
    open(f"/proc/{session.pid}/autogroup", "w").write("19")
if own:
    os.setuid(65534)
try:
    print(*groups())
    raise_all(session.pid for session in sessions)
    print(*groups())
finally:
    for session in sessions:
        session.kill()
"""


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel does not group tasks by session")
def test_an_ordinary_person_gives_each_group_of_a_session_its_weight_back() -> None:
    """The kernel lets them change ten groups a second."""
    if os.geteuid():
        pytest.skip("only root lowers three groups at once, to begin with")
    told = subprocess.run([sys.executable, "-uc", AGAIN], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["19 19 19", "0 0 0"]


RAISED = """
import os, subprocess, sys
from core.system.priority import lower_priority, raise_all
child = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=-1, stdout=-1)
child.stdout.readline()
lower_priority()
raise_all([os.getpid(), child.pid, 1 << 22])
for pid in (os.getpid(), child.pid):
    print(os.sched_getscheduler(pid) == os.SCHED_OTHER, os.getpriority(os.PRIO_PROCESS, pid))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may raise a priority")
def test_removing_a_package_gives_sessions_the_priority_of_other_programs() -> None:
    told = subprocess.run([sys.executable, "-uc", RAISED], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["True 0", "True 0"]

"""How hivemind's processes are started, which Python settles once for all."""

import subprocess
import sys


def test_processes_are_forked_whatever_a_library_has_chosen_before() -> None:
    program = """
import multiprocessing
multiprocessing.set_start_method("forkserver")  # Python 3.14's own choice, once a library has made a lock
import core.swarm
print(multiprocessing.get_start_method())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "fork\n"

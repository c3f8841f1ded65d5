"""`python -m core.runtime FOLDER`: install the runtime into `FOLDER`, with its progress as lines of JSON on stdout.

With `--update`, while no session runs: a runtime that will do stays, and all others are deleted.

The first line of stdin is the `Proxy` to use, if there is one. Each line of stdout is a `ComputeRuntime`; the last one
is ready or has a failure. Killed at any moment, the next run goes on: the runtime in use is only replaced when the new
one has passed its test, and downloaded files stay in the cache.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from core.api.errors import WorldError
from core.api.installation.compute_runtime import ComputeRuntime, Step
from core.api.message import Message
from core.api.proxy import Proxy
from core.client.installation import core_command, package
from core.conditions.desktop_proxy import DesktopProxy
from core.conditions.nvml import driver_cuda
from core.runtime import failures, launch, plan
from core.runtime.store import LOCKS, PYTHON, RuntimeStore, libraries, locks
from core.system.proxy import in_environment

_POLL = 1.0
_OWN_SOURCES = ("UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_INDEX", "UV_INDEX_URL", "UV_TORCH_BACKEND")
"""Variables by which a person names other sources of packages; torch's own index is then not asked."""


_ANY_SOURCE = "https://packages.example/"
"""Stands for the sources of packages where the desktop is asked for their proxy."""
_PROXIES = ("all_proxy", "http_proxy", "https_proxy", "no_proxy")


class Installation:
    """One installation of a lock's packages."""

    def __init__(self, store: RuntimeStore, lock: plan.Lock, proxy: Proxy) -> None:
        self._store, self._proxy = store, proxy
        self._lock = lock
        self._status = ComputeRuntime(build=lock.build, total=lock.unpacked)

    def run(self) -> None:
        """Raises WorldError, OSError."""
        self._report("preparing")
        self._store.sweep_unfinished()
        runtime = self._store.begin(self._lock)
        self._check_disk()
        with self._watching_download():
            self._install(runtime)
        self._report("testing")
        self._run(core_command("core.host.self_test"), launch.environment(runtime))
        self._store.switch_to(runtime)
        shutil.rmtree(self._store.cache, ignore_errors=True)

    def _check_disk(self) -> None:
        needed = int(self._lock.unpacked * plan.HEADROOM) - size(self._store.cache)
        free = shutil.disk_usage(self._store.folder).free
        if free < needed:
            raise WorldError("runtime_needs_space", needed=needed, free=free, path=str(self._store.folder))

    def _install(self, runtime: Path) -> None:
        lock = LOCKS / f"{self._lock.build}.lock"
        own_sources = any(os.environ.get(name) for name in _OWN_SOURCES)
        backend = ["--torch-backend", "cpu"] if self._lock.build == "cpu" and not own_sources else []
        exactly = ["--no-deps", "--no-build", "--require-hashes", "-r", str(lock)]
        place = ["--python", sys.executable, "--target", str(libraries(runtime))]
        self._uv("pip", "install", *place, "--compile-bytecode", *backend, *exactly)

    def _uv(self, *arguments: str) -> None:
        found = package()
        if found is None:
            raise WorldError("runtime_not_needed")
        self._run([str(found.uv), *arguments], environment(self._store.cache, self._proxy))

    def _run(self, command: list[str], variables: dict[str, str]) -> None:
        done = subprocess.run(
            command,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        output = done.stdout.decode(errors="replace")
        sys.stderr.write(masked(output))
        if done.returncode:
            raise WorldError(failures.explain(masked(output), str(self._store.folder)))

    @contextmanager
    def _watching_download(self) -> Iterator[None]:
        over = threading.Event()
        watch = threading.Thread(target=self._follow_download, args=(over,), daemon=True)
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()

    def _follow_download(self, over: threading.Event) -> None:
        started, before, total = time.monotonic(), size(self._store.cache), self._lock.unpacked
        while not over.wait(_POLL):
            done = size(self._store.cache)
            left = plan.time_left(done, total, before, time.monotonic() - started)
            self._report("compiling" if done >= total else "downloading", done, left)

    def _report(self, step: Step, done: int = 0, time_left: float | None = None) -> None:
        done = min(done, self._lock.unpacked)
        print_status(msgspec.structs.replace(self._status, step=step, done=done, time_left=time_left))


def print_status(status: ComputeRuntime) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(status) + b"\n")
    sys.stdout.buffer.flush()


def environment(cache: Path, proxy: Proxy) -> dict[str, str]:
    """uv's environment: the person's proxy, certificates and sources of packages, but none of our paths."""
    left_out = {"PYTHONPATH", "VIRTUAL_ENV"}
    if proxy.choice != "system":
        left_out |= {name for name in os.environ if name.lower() in _PROXIES}
    url = proxy.url if proxy.choice == "own" else ""
    if proxy.choice == "system" and not in_environment():
        url = DesktopProxy()(_ANY_SOURCE)
    return {
        "UV_HTTP_TIMEOUT": "60",
        **{name: value for name, value in os.environ.items() if name not in left_out},
        **({"ALL_PROXY": url} if url else {}),
        "UV_CACHE_DIR": str(cache),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
    }


def masked(text: str) -> str:
    """Without the credentials in addresses."""
    return re.sub(r"//[^/@\s]+@", "//****@", text)


def size(folder: Path) -> int:
    """Bytes of all files; those that disappear meanwhile count as nothing."""
    total, folders = 0, [os.fspath(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


def main(folder: Path, *, update: bool = False) -> int:
    line = sys.stdin.buffer.readline()
    proxy = msgspec.json.decode(line, type=Proxy) if line else Proxy()
    lock = plan.choose(locks(), PYTHON, driver_cuda())
    if lock is None:
        print_status(ComputeRuntime(failure=Message("runtime_no_build", {"python": PYTHON})))
        return 1
    store = RuntimeStore(folder)
    try:
        if not update or store.current is None:
            Installation(store, lock, proxy).run()
        if update:
            store.sweep(keep_cache=False)
        print_status(ComputeRuntime(ready=True, build=store.build))
    except WorldError as error:
        failure = error.message
    except OSError as error:
        failure = failures.explain(str(error), str(folder))
    else:
        return 0
    print_status(ComputeRuntime(build=lock.build, failure=failure))
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), update=sys.argv[2:] == ["--update"]))

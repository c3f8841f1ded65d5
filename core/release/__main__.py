"""`python -m core.release check|install`: what the publisher offers, and its installation.

The first line of stdin is an `Order`. Lines of stdout are `Progress`, the last one `Done`. No byte from the network is
used before the signature, and no package before its hash was verified.
"""

import hashlib
import shutil
import sys
import time
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urljoin

import msgspec

from core.api.errors import WorldError, detail_of
from core.api.message import Message
from core.conditions.desktop_proxy import DesktopProxy
from core.release import portable, signed
from core.release.download import fetch
from core.release.order import Done, Order, Progress
from core.system import proxy

_FILE_SECONDS, _PACKAGE_SECONDS = 30.0, 3600.0
_REPORT_EVERY = 0.5
_HEADROOM = 8
"""Bytes on the disk for each byte of an archive that is unpacked."""


def check(order: Order, now: float) -> signed.Release:
    """Raises WorldError."""
    data = bytearray()
    fetch(order.address, signed.LONGEST, _FILE_SECONDS, data.extend)
    return signed.verified(bytes(data), order.keys, now, order.least)


def install(order: Order, release: signed.Release) -> str:
    """The path of the package for an administrator; empty: it replaced the present build.

    Raises WorldError, OSError.
    """
    file, root = release.files.get(order.package), Path(order.root)
    if file is None:
        raise WorldError("release_without_package")
    folder = _folder(order)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755)
    needed, free = file.size * (_HEADROOM if order.package == "portable" else 1), shutil.disk_usage(folder).free
    if free < needed:
        raise WorldError("disk_too_full", folder=str(folder), needed=needed, free=free)
    path = folder / f"idlehive_{release.version}_amd64.{'tar.xz' if order.package == 'portable' else 'deb'}"
    with path.open("wb") as content:
        _download(urljoin(order.address, file.url), file, content)
    if order.package != "portable":
        return str(path)
    _send(Progress("installing", file.size))
    portable.replace(root, path, release.version)
    return ""


def _folder(order: Order) -> Path:
    """Where the download goes."""
    return portable.staging_beside(Path(order.root)) if order.package == "portable" else Path(order.folder)


def _download(url: str, file: signed.File, content: BinaryIO) -> None:
    digest, reported = hashlib.sha256(), 0.0

    def write(chunk: bytes) -> None:
        nonlocal reported
        digest.update(chunk)
        content.write(chunk)
        if time.monotonic() - reported >= _REPORT_EVERY:
            reported = time.monotonic()
            _send(Progress("downloading", content.tell()))

    fetch(url, file.size, _PACKAGE_SECONDS, write)
    if content.tell() != file.size or digest.hexdigest() != file.sha256:
        raise WorldError("release_wrong_file")


def _send(message: Progress | Done) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


def main(verb: str) -> int:
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=Order)
    proxy.use(order.proxy)
    proxy.use_desktop(DesktopProxy())
    path = ""
    try:
        release = check(order, time.time())
        path = install(order, release) if verb == "install" else ""
    except WorldError as error:
        _send(Done(failure=error.message))
    except OSError as error:
        params = {"path": str(error.filename or order.root), "detail": detail_of(error)}
        _send(Done(failure=Message("release_not_written", params)))
    else:
        _send(Done(release=release, file=path))
        return 0
    finally:
        if verb == "install" and not path:
            shutil.rmtree(_folder(order), ignore_errors=True)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

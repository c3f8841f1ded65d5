"""The part of a Wayland compositor that tells idle time: ext-idle-notify-v1 on a real socket."""

import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path


class Compositor:
    """Offers what a test wants it to; `tell` sends the events. Requests are noted as (object, opcode)."""

    def __init__(self, path: Path, *, version: int = 2, has_idle_notify: bool = True) -> None:
        seat = (3, "wl_seat", 7)
        self._globals = [(1, "wl_compositor", 5), seat]
        if has_idle_notify:
            self._globals.append((9, "ext_idle_notifier_v1", version))
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._client: socket.socket | None = None
        self.heard: list[tuple[int, int]] = []
        self.subscribed = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def tell(self, *, idle: bool) -> None:
        assert self._client is not None
        self._client.sendall(_message(6, 0 if idle else 1))

    def close(self) -> None:
        """As a compositor that ends: without a word."""
        self._listening.close()
        if self._client is not None:
            with suppress(OSError):  # the client has hung up before
                self._client.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)

    def _serve(self) -> None:
        self._client, _ = self._listening.accept()
        with self._client:
            while request := self._client.recv(8, socket.MSG_WAITALL):
                receiver, word = struct.unpack("=II", request)
                body = self._client.recv((word >> 16) - 8, socket.MSG_WAITALL)
                self.heard.append((receiver, word & 0xFFFF))
                self._answer(receiver, word & 0xFFFF, body)

    def _answer(self, receiver: int, opcode: int, body: bytes) -> None:
        assert self._client is not None
        if (receiver, opcode) == (1, 1):  # get_registry
            for number, interface, version in self._globals:
                self._client.sendall(_message(struct.unpack("=I", body)[0], 0, _global(number, interface, version)))
        elif (receiver, opcode) == (1, 0):  # sync
            self._client.sendall(_message(struct.unpack("=I", body)[0], 0, struct.pack("=I", 1)))
        elif receiver == 5:
            self.subscribed.set()


def _global(number: int, interface: str, version: int) -> bytes:
    text = interface.encode() + b"\0"
    return struct.pack("=II", number, len(text)) + text + bytes(-len(text) % 4) + struct.pack("=I", version)


def _message(sender: int, opcode: int, body: bytes = b"") -> bytes:
    return struct.pack("=II", sender, (8 + len(body)) << 16 | opcode) + body

"""Files over HTTP on the same line as everything else."""

import socket
from threading import Event

import requests

from core.learning.data.download import read_chunk
from core.swarm.traffic.meter import Line
from core.swarm.traffic.throttled_streams import on_the_wire, piece_size

_AHEAD = 0.1
"""Seconds of the ceiling that a server may send before they are read: the size of the socket's buffer."""


class ThrottledDownload:
    """Reads a response as `read_chunk` does, waits for its turn and counts."""

    def __init__(self, line: Line, stop: Event) -> None:
        self._line, self._stop = line, stop

    def __call__(self, response: requests.Response, size: int) -> bytes:
        # Read to its end it has no socket any more.
        if self._line.down.rate and not response.raw.closed:
            self._keep_back(response.raw.fileno())
        chunk = read_chunk(response, min(size, piece_size(self._line.down.rate)))
        self._line.meter.add_downloaded(on_the_wire(len(chunk)), "data")
        self._line.down.block(on_the_wire(len(chunk)), self._stop)
        return chunk

    def _keep_back(self, descriptor: int) -> None:
        with socket.socket(fileno=descriptor) as connection:
            try:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(self._line.down.rate * _AHEAD))
            finally:
                # It goes on belonging to the response.
                connection.detach()

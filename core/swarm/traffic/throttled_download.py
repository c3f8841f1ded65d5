"""Files over HTTP on the same link as everything else."""

import os
import socket
from threading import Event

import requests

from core.learning.data.download import read_chunk
from core.swarm.traffic.link import Link, on_the_wire
from core.swarm.traffic.tcp_info import Carried, carried_by, cookie_of
from core.swarm.traffic.throttled_streams import chunk_size

_AHEAD = 0.1
"""Seconds of the ceiling that a server may send before they are read: the size of the socket's buffer."""


class ThrottledDownload:
    """Reads a response as `read_chunk` does, waits for its turn and counts."""

    def __init__(self, link: Link, stop: Event) -> None:
        self._link, self._stop = link, stop
        self._counted = dict[int, Carried]()
        """What each connection had carried when it was last read from."""

    def __call__(self, response: requests.Response, size: int) -> bytes:
        size = min(size, chunk_size(self._link.down.rate))
        if response.raw.closed:
            # Read to its end it has no socket any more.
            return read_chunk(response, size)
        # A descriptor of our own: the response closes its own with the last byte.
        with socket.socket(fileno=os.dup(response.raw.fileno())) as connection:
            if self._link.down.rate:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(self._link.down.rate * _AHEAD))
            chunk = read_chunk(response, size)
            carried = self._newly_carried(connection) or Carried(down=on_the_wire(len(chunk)))
        self._link.meter.add("data", up=carried.up, down=carried.down)
        self._link.up.consume(carried.up)
        self._link.down.block_for(carried.down, self._stop)
        return chunk

    def _newly_carried(self, connection: socket.socket) -> Carried | None:
        if (carried := carried_by(connection)) is None:
            return None
        cookie = cookie_of(connection)
        before = self._counted.get(cookie, Carried())
        self._counted[cookie] = carried
        return carried - before

"""What the kernel tells of TCP connections, against what two ends of one say of each other."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from core.swarm.traffic.tcp_info import Carried, carried_by, connections
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other kernels do not tell")

SIZE = 1_000_000
HEADERS = 14 + 20 + 32
SEND = """
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(bytes(10**6))
input()
"""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def read(connection: socket.socket, size: int) -> None:
    while size:
        size -= len(connection.recv(min(size, 1 << 16)))


def test_both_ends_of_a_connection_agree_and_count_the_headers(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as sender, listener.accept()[0] as receiver:
        reading = threading.Thread(target=read, args=(receiver, SIZE))
        reading.start()
        sender.sendall(bytes(SIZE))
        reading.join()
        sent, received = carried_by(sender), carried_by(receiver)
        assert sent is not None
        assert received is not None
        (payload,) = (each.payload for each in connections(os.getpid()).values() if each.carried == sent)
        packets, rest = divmod(sent.up - payload, HEADERS)
        assert (packets > 0, rest) == (True, 0)
        # A busy machine acknowledges so late that something is sent again, and arrives twice.
        assert received.down == sent.up - (payload - SIZE)
        assert received.up > 0


def test_a_receiver_that_does_not_read_makes_no_line_busy(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as sender, listener.accept()[0] as receiver:
        sender.setblocking(False)

        def is_full() -> bool:
            try:
                sender.send(bytes(1 << 20))
            except BlockingIOError:
                return True
            return False

        wait_for(is_full, 10.0, "nothing more fits")
        time.sleep(0.3)  # the time that is measured
        of_sender = max(connections(os.getpid()).values(), key=lambda connection: connection.payload)
        assert of_sender.busy < 0.15
        assert receiver.fileno() > 0


def test_connections_of_another_process_are_told_apart_from_ours(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    other = subprocess.Popen([sys.executable, "-c", SEND, str(port)], stdin=subprocess.PIPE)
    with other, listener.accept()[0] as receiver:
        read(receiver, SIZE)
        (theirs,) = connections(other.pid).values()
        ours = connections(os.getpid()).values()
        sent_again = theirs.payload - SIZE
        assert theirs.carried.up > theirs.payload
        assert 0 <= sent_again < SIZE
        # The first packet counts as a byte.
        assert theirs.delivered == pytest.approx(theirs.carried.up - sent_again, abs=1)
        assert carried_by(receiver) in [connection.carried for connection in ours]
        assert theirs not in ours
        other.communicate(b"\n")
    assert connections(other.pid) == {}


def test_a_closed_connection_is_gone(listener: socket.socket) -> None:
    before = connections(os.getpid()).keys()
    with socket.create_connection(listener.getsockname()), listener.accept()[0]:
        assert len(connections(os.getpid()).keys() - before) == 2
    assert connections(os.getpid()).keys() <= before


def test_counts_add_up() -> None:
    assert Carried(1, 2) + Carried(3, 4) - Carried(1, 1) == Carried(3, 5)

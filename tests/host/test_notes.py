"""What a backbone tells its organiser, apart from its log."""

import logging
import os

import pytest

from core.api import hosting
from core.api.message import Message
from core.host import notes


def test_messages_among_the_log_are_notes_and_all_else_stays_in_it() -> None:
    reading, writing = os.pipe()
    log, handler = logging.getLogger("tests.host"), notes.NoteHandler(writing)
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        log.info("%s", Message("host_resumed", {"epoch": 3}))
        log.info("epoch %d: %s", 3, Message("host_ending"))
        log.warning("plain")
    finally:
        log.removeHandler(handler)
        os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        sent = [hosting.host_decoder.decode(line) for line in pipe]
    assert [each.message for each in sent if isinstance(each, hosting.Note)] == [Message("host_resumed", {"epoch": 3})]
    assert len(sent) == 1


def test_a_note_that_nobody_reads_is_lost_without_an_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    log, handler = logging.getLogger("tests.host.unread"), notes.NoteHandler(writing)
    log.addHandler(handler)
    try:
        with pytest.raises(BrokenPipeError):
            os.write(writing, b"Python ignores SIGPIPE, so a write fails")
        log.error("%s", Message("host_ending"))
    finally:
        log.removeHandler(handler)
        os.close(writing)


def test_the_log_of_an_organisers_terminal_leaves_notes_out() -> None:
    note = logging.makeLogRecord({"msg": "%s", "args": (Message("host_ending"),)})
    assert not notes.is_technical(note)
    assert notes.is_technical(logging.makeLogRecord({"msg": "%s", "args": ("plain",)}))
    assert notes.is_technical(logging.makeLogRecord({"msg": "plain"}))

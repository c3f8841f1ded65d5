"""A volunteer reads that a peer was removed, not often, and never as its own fault."""

from typing import get_args

from app.text.messages import sentence
from core.api.message import Message
from core.swarm.trust.distrust import Drop, Offence
from core.trainer.drop_remarks import DropRemarks


def test_a_volunteer_reads_that_a_peer_sent_broken_data() -> None:
    remarks: list[Message] = []
    DropRemarks(remarks.append)(Drop("X", "values_out_of_range", 1000.0, 60.0))
    assert [sentence(remark) for remark in remarks] == ["A peer sent broken data and was removed."]


def test_many_drops_make_one_remark_in_ten_minutes() -> None:
    remarks: list[Message] = []
    remark = DropRemarks(remarks.append)
    for at in range(0, 1800, 10):
        remark(Drop(str(at), "part_malformed", 1000.0 + at, 60.0))
    assert len(remarks) == 3


def test_every_reason_has_words() -> None:
    for offence in get_args(Offence):
        said = sentence(Drop("X", offence, 0.0, 60.0).message)
        assert said.startswith("The peer X was removed for 1 min")
        assert offence not in said

"""The organiser's record: who can have signed it, and what else is never taken for it."""

from pathlib import Path

import msgspec
import pytest
from hivemind import DHT
from hivemind.p2p import P2P, PeerID
from hivemind.utils import get_dht_time
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.dht import organiser, record_limits
from core.swarm.dht.organiser import (
    OrganiserRecords,
    RunRecord,
    RunRecordPublisher,
    _Signed,
    identity_key,
    sign,
    verify,
)
from core.swarm.dht.peer import join_swarm
from tests.swarm.installed import installed
from tests.waiting import wait_for

RECORD = RunRecord("run", 12, 1_790_000_000.0)


@pytest.fixture(scope="module")
def identities(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("identities")
    for name in ("organiser", "stranger"):
        P2P.generate_identity(str(folder / name))
    return [folder / "organiser", folder / "stranger"]


def peer_id(identity: Path) -> PeerID:
    return PeerID.from_identity(identity.read_bytes())


def test_a_record_is_believed_of_whoever_the_manifest_names(identities: list[Path]) -> None:
    organiser, stranger = identities
    signed = sign(RECORD, identity_key(organiser))
    assert verify(signed, [peer_id(organiser)], "run") == RECORD
    assert verify(signed, [peer_id(stranger)], "run") is None
    assert verify(signed, [peer_id(organiser)], "other") is None


def test_a_record_cannot_be_changed_nor_signed_under_the_organisers_key_by_another(identities: list[Path]) -> None:
    organiser, stranger = identities
    honest = msgspec.msgpack.decode(sign(RECORD, identity_key(organiser)), type=_Signed)
    forged = msgspec.msgpack.decode(sign(RunRecord("run", 10**6, 1e9), identity_key(stranger)), type=_Signed)
    for changed in (
        msgspec.structs.replace(honest, body=forged.body),
        msgspec.structs.replace(forged, public_key=honest.public_key),
        msgspec.structs.replace(honest, signature=forged.signature),
    ):
        assert verify(msgspec.msgpack.encode(changed), [peer_id(organiser)], "run") is None


@given(
    st.one_of(
        st.binary(max_size=3000), st.none(), st.integers(), st.builds(lambda n: b"\x91" * n, st.integers(0, 2500))
    )
)
def test_anything_else_is_no_record(data: object) -> None:
    assert verify(data, [], "run") is None


@pytest.mark.parametrize(("room", "works"), [(record_limits.MOST_BYTES, True), (100, False)])
def test_the_publisher_finds_what_it_has_published_unless_the_dht_has_no_room_left(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch, room: int, works: bool
) -> None:
    monkeypatch.setattr(record_limits, "MOST_BYTES", room)
    with installed(short_folder):
        dht: DHT = join_swarm([], short_folder / "backbone.key")
        record = RunRecordPublisher(dht, "run", short_folder / "backbone.key")
        assert not record.is_found()
        record.publish(3, 1000.0)
        # Whatever is asked of a DHT is done in turn.
        assert dht.store("another", "value", get_dht_time() + 30.0, subkey="one") is works
        if works:
            wait_for(record.is_found, 10.0, "it is found")
        else:
            assert not record.is_found()
        dht.shutdown()


def test_a_record_is_believed_until_three_renewals_were_lost(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with installed(short_folder):
        dht: DHT = join_swarm([], short_folder / "backbone.key")
        RunRecordPublisher(dht, "run", short_folder / "backbone.key").publish(3, 1000.0)
        records = OrganiserRecords(dht, "run", [dht.peer_id])
        wait_for(lambda: records.read() is not None, 10.0)
        now = get_dht_time()
        for later, is_believed in ((150.0, True), (200.0, False)):
            monkeypatch.setattr(organiser, "get_dht_time", lambda at=now + later: at)
            assert (records.read() is not None) == is_believed
        dht.shutdown()

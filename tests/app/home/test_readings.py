"""Live values against their ceilings, for the tiles at home."""

import pytest
from msgspec.structs import replace

from app.home import readings
from core.api.session_settings import Limits, SessionSettings
from core.api.snapshot import DataMonth, GpuUse, ProcessorUse, Silence, Snapshot
from tests.app.snapshots import CONTRIBUTING, NOW
from tests.app.spaces import SPACE

LIMITS = SessionSettings(Limits(gpu_share=80, gpu_temperature=75, gpu_power=0, upload_limit=1_000_000))
CARD = GpuUse("RTX 3060", 63, 66, 112, 4_000_000_000, 12_000_000_000)
BUSY = replace(CONTRIBUTING, settings=LIMITS, gpu=CARD)


def worded(found: tuple[readings.Reading, ...]) -> list[str]:
    return [f"{one.name} {one.value} {one.ceiling}".replace(SPACE, " ") for one in found]


def test_each_value_of_the_card_stands_beside_its_ceiling() -> None:
    assert worded(readings.gpu(BUSY)) == ["Card 63 of 80 %", "Temperature 66 of 75 °C", "Power 112 W"]
    assert [reading.share for reading in readings.gpu(BUSY)] == [63 / 80, 66 / 75, None]


def test_what_a_card_does_not_tell_is_a_dash_and_not_zero() -> None:
    silent = replace(BUSY, gpu=GpuUse("RTX 3060"))
    assert worded(readings.gpu(silent))[1] == "Temperature – of 75 °C"


def test_without_a_card_there_is_no_tile_for_it() -> None:
    assert readings.gpu(CONTRIBUTING) == ()


def test_rates_stand_beside_their_ceilings_and_alone_where_nothing_limits_them() -> None:
    assert worded(readings.network(BUSY)) == ["Up 2.1 of 8 Mbit/s", "Down 3.4 Mbit/s"]
    assert worded(readings.network(replace(Snapshot(state="idle"), settings=LIMITS))) == ["Up – of 8 Mbit/s", "Down – "]


def test_the_month_is_shown_where_its_data_are_limited() -> None:
    limited = replace(BUSY, data_month=DataMonth(41_000_000_000, 100_000_000_000))
    assert worded(readings.network(limited))[-1] == "This month 41.0 of 100 GB"
    assert readings.network(limited)[-1].share == 0.41


def test_what_a_session_moved_is_told_while_there_is_one() -> None:
    assert readings.moved(BUSY).replace(SPACE, " ") == (
        "this session 41.2 MB up, 66.0 MB down\nOnly outgoing connections"
    )
    assert readings.moved(Snapshot(state="idle")) == "no traffic now"


def test_processor_and_memory_stand_beside_their_ceilings_with_the_card_below() -> None:
    limits = SessionSettings(Limits(processor_share=50, memory_limit=4_000_000_000))
    busy = replace(CONTRIBUTING, settings=limits, processor=ProcessorUse(48, 1_500_000_000))
    assert worded(readings.computer(busy)) == ["Processor 48 of 50 %", "Memory 1.5 of 4 GB"]
    assert [one.name for one in readings.computer(replace(busy, gpu=CARD))][2:] == ["Card", "Temperature", "Power"]
    free = replace(busy, settings=SessionSettings())
    assert worded(readings.computer(free))[1] == "Memory 1.5 GB"
    assert readings.computer(replace(busy, processor=None)) == ()


@pytest.mark.usefixtures("london")
def test_what_is_not_of_now_says_of_when_it_is() -> None:
    busy = replace(CONTRIBUTING, processor=ProcessorUse(48, 1_500_000_000, NOW))
    assert readings.measured(busy) == "memory at 16:06:40"
    assert readings.measured(replace(busy, processor=ProcessorUse(48))) == ""
    silent = replace(busy, silence=Silence(NOW))
    assert (readings.speed(silent).value, readings.peers(silent).is_old) == ("–", True)
    assert worded(readings.network(silent)) == ["Up – ", "Down – "]
    assert (readings.computer(silent), readings.measured(silent)) == ((), "")

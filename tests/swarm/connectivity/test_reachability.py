import pytest

from core.api.snapshot import Reachability
from core.swarm.connectivity.dial_back import Answer
from core.swarm.connectivity.reachability import PortSettings, own_ip_addresses, reachability

OUTSIDE, BETWEEN, INSIDE, SIXTH = "11.77.0.2", "100.64.0.2", "192.168.0.2", "2001:db8::2"
MAPS, PORT = PortSettings(maps_port=True), PortSettings(port=31001)


@pytest.mark.parametrize(
    ("answer", "settings", "known", "expected"),
    [
        (Answer(OUTSIDE, True), MAPS, {INSIDE, OUTSIDE}, "router"),
        (Answer(OUTSIDE, True), PORT, {INSIDE}, "router"),
        (Answer(INSIDE, True), PORT, {INSIDE}, "open_port"),
        (Answer(SIXTH, True), PORT, {INSIDE, SIXTH}, "ipv6"),
        (Answer(OUTSIDE, False), PORT, {INSIDE}, "blocked"),
        (Answer(OUTSIDE, False), MAPS, {INSIDE, OUTSIDE}, "blocked"),
        (Answer(OUTSIDE, False), MAPS, {INSIDE, BETWEEN}, "second_router"),
        (Answer(OUTSIDE, False), MAPS, {INSIDE, OUTSIDE, BETWEEN}, "second_router"),
        (Answer(SIXTH, False), MAPS, {INSIDE, SIXTH, OUTSIDE}, "blocked"),
        (Answer(OUTSIDE, False), MAPS, {INSIDE}, "no_mapping"),
        (Answer(OUTSIDE, None), PORT, {INSIDE}, None),
        (None, MAPS, {INSIDE, OUTSIDE}, None),
    ],
)
def test_what_the_backbones_answer_means(
    answer: Answer | None, settings: PortSettings, known: set[str], expected: Reachability | None
) -> None:
    assert reachability(answer, settings, known, {"127.0.0.1", INSIDE, SIXTH}) == expected


def test_this_computers_addresses_have_no_interface_in_them() -> None:
    found = own_ip_addresses()
    assert "127.0.0.1" in found
    assert not any("%" in address for address in found)

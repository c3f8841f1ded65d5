"""What core.swarm.patches relies on in hivemind. A failure here means: read the library again, then the patch."""

import ast
import asyncio
import inspect
import time
from pathlib import Path

import pytest
from hivemind.averaging import DecentralizedAverager, averager
from hivemind.averaging.allreduce import AllReduceRunner
from hivemind.averaging.control import StepControl
from hivemind.averaging.matchmaking import Matchmaking
from hivemind.optim.optimizer import Optimizer
from hivemind.optim.progress_tracker import ProgressTracker
from hivemind.p2p import P2P
from hivemind.p2p.p2p_daemon_bindings import control
from hivemind.proto import p2pd_pb2

from core.api.session_settings import Limits
from core.host import build as host_build
from core.swarm import patches as patches_module
from core.swarm.all_reduce.load_balancing import load_balance
from core.swarm.all_reduce.runner import AtomicAllReduce
from core.swarm.averaging.group_formation import ExpectedGroup
from core.swarm.patches import patches
from core.swarm.traffic.link import OVERHEAD, Link
from core.swarm.traffic.meter import RateWatch, current_kind
from core.trainer import build as trainer_build


def test_sockets_are_named_after_a_prefix_of_the_class() -> None:
    source = inspect.getsource(P2P.create)
    assert 'cls._UNIX_SOCKET_PREFIX + f"p2pd-' in source
    assert 'cls._UNIX_SOCKET_PREFIX + f"p2pclient-' in source


def test_every_message_to_and_from_the_daemon_passes_the_throttled_functions() -> None:
    streams = inspect.getsource(P2P.send_protobuf) + inspect.getsource(P2P.receive_protobuf)
    assert streams.count("P2P.send_raw_data(") == 1
    assert streams.count("P2P.receive_raw_data(") == 2
    assert list(inspect.signature(P2P.receive_raw_data).parameters) == ["reader"]
    calls = inspect.getsource(control)
    assert "write_pbmsg,\n" in calls
    assert "read_pbmsg_safe,\n" in calls


def test_a_stream_is_closed_as_soon_as_its_handler_has_answered() -> None:
    assert "with closing(writer):" in inspect.getsource(P2P._add_protobuf_stream_handler)
    parts = inspect.getsource(AllReduceRunner._communicate_with_peer)
    assert "self._get_peer_stub(peer_id).rpc_aggregate_part(" in parts


def test_local_gradients_are_used_in_one_method_only() -> None:
    fallback = Optimizer._load_local_gradients_into_optimizer
    callers = [
        name
        for name, method in inspect.getmembers(Optimizer, inspect.isfunction)
        if f"self.{fallback.__name__}()" in inspect.getsource(method)
    ]
    assert callers == ["_average_gradients_and_load_into_optimizer", "_begin_averaging_gradients"]


def test_peers_are_counted_where_the_tracker_parses_their_records() -> None:
    source = inspect.getsource(ProgressTracker._parse_swarm_progress_data)
    assert "num_peers = len(valid_peer_entries)" in source


def test_the_state_is_sent_and_fetched_where_it_is_marked_as_such() -> None:
    source = inspect.getsource(DecentralizedAverager)
    assert "self, _request: averaging_pb2.DownloadRequest, _context: P2PContext" in source
    assert "async def _load_state_from_peers(self, future: MPFuture" in source


def test_rounds_are_run_where_we_put_our_own(link: Link) -> None:
    source = inspect.getsource(averager.DecentralizedAverager._run_allreduce_inplace_)
    assert "runner = AllReduceRunner(" in source
    assert "tensor.add_(update" in source
    assert inspect.getsource(AllReduceRunner).count("averaged_part - tensor_part") == 2
    assert averager.AllReduceRunner is AtomicAllReduce
    assert inspect.getsource(AllReduceRunner).count("if not self.should_delay_results(") == 1
    assert inspect.getsource(AllReduceRunner).count("if self.should_delay_results(") == 1


def test_parts_are_sent_and_answered_where_ours_waits_for_its_turn() -> None:
    source = inspect.getsource(AllReduceRunner)
    assert "self._get_peer_stub(peer_id).rpc_aggregate_part(inputs_aiter)" in source
    assert "in self._accumulate_parts_streaming(stream, sender_index)" in source
    assert source.count("self.tensor_part_container.register_processed_part(") == 2
    assert "self.tensor_part_container = TensorPartContainer(" in source


def test_parts_are_decoded_where_ours_are_and_checked_before_they_are_added() -> None:
    source = inspect.getsource(AllReduceRunner)
    assert source.count("deserialize_torch_tensor(msg.tensor_part)") == 2
    assert source.count("await self.tensor_part_reducer.accumulate_part(") == 2
    assert "self.tensor_part_reducer = TensorPartReducer(" in source


def test_groups_form_where_we_put_our_own(link: Link) -> None:
    assert averager.Matchmaking is ExpectedGroup
    assert "self._matchmaking = Matchmaking(" in inspect.getsource(DecentralizedAverager._run_internal)
    assert "await self._request_join_group(next_leader)" in inspect.getsource(
        Matchmaking._request_join_potential_leaders
    )
    assert "await self._request_join_group(suggested_leader)" in inspect.getsource(Matchmaking._request_join_group)


def test_averagers_divide_the_work_where_we_put_our_own_arithmetic(link: Link) -> None:
    assert "None, load_balance_peers, self.total_size, download_bandwidths, min_vector_size" in inspect.getsource(
        DecentralizedAverager._aggregate_with_group
    )
    assert averager.load_balance_peers is load_balance


def test_a_cancelled_round_is_cancelled_by_what_we_replace() -> None:
    source = inspect.getsource(StepControl.cancel)
    assert source.index("self._cancel.set_result(None)") < source.index("super().cancel()")


def test_everything_that_is_patched_exists_in_hivemind(short_folder: Path) -> None:
    missing = [(owner, name) for owner, name, _ in patches(short_folder, Link()) if name not in vars(owner)]
    assert missing == []


def test_only_the_patches_replace_anything_of_hivemind() -> None:
    """Building an optimizer, or importing a module, must not do it on the side."""
    core = Path(patches_module.__file__).parent.parent
    assigned = {
        f"{file.relative_to(core)}:{number}"
        for file in core.rglob("*.py")
        if file != Path(patches_module.__file__)
        for number in assignments_to_hivemind(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert assigned == set()


def test_an_assignment_to_a_class_or_module_of_hivemind_is_found() -> None:
    sources = {
        "from hivemind.p2p import P2P\nP2P.send_raw_data = 1": [2],
        "import hivemind\nhivemind.averaging.averager.AllReduceRunner = 1": [2],
        "from hivemind.averaging import averager as a\n\nsetattr(a, 'b', 1)": [3],
        "from core import averager\naverager.x = 1": [],
    }
    assert {source: assignments_to_hivemind(ast.parse(source)) for source in sources} == sources


def test_both_processes_that_use_hivemind_install_the_patches() -> None:
    for module in (trainer_build, host_build):
        assert inspect.getsource(module).count("install(") == 1


def assignments_to_hivemind(tree: ast.Module) -> list[int]:
    """Lines that set an attribute of what was imported from hivemind."""
    imported = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                imported |= {alias.asname or "hivemind" for alias in names if alias.name.split(".")[0] == "hivemind"}
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == "hivemind":
                imported |= {alias.asname or alias.name for alias in names}
    return [target.lineno for node in ast.walk(tree) for target in _targets(node) if _root(target) in imported]


def _targets(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets):
            return [target for target in targets if isinstance(target, ast.Attribute)]
        case ast.Call(func=ast.Name(id="setattr"), args=[target, *_]):
            return [target]
    return []


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class Stream:
    """As much of asyncio's streams as the throttled functions use."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)
        self.sizes: list[int] = []

    def write(self, data: bytes) -> None:
        self.sizes.append(len(data))
        self.data += bytes(data)

    async def drain(self) -> None:
        pass

    async def read(self, size: int) -> bytes:
        taken, self.data = self.data[:size], self.data[size:]
        return bytes(taken)

    async def readexactly(self, size: int) -> bytes:
        if len(self.data) < size:
            raise asyncio.IncompleteReadError(bytes(self.data), size)
        return await self.read(size)


def test_streams_keep_hiveminds_format_and_are_counted_with_their_headers(link: Link) -> None:
    wire = Stream()
    asyncio.run(P2P.send_raw_data(b"x" * 100_000, wire))
    assert bytes(wire.data) == (100_000).to_bytes(8, "big") + b"x" * 100_000
    assert asyncio.run(P2P.receive_raw_data(wire)) == b"x" * 100_000
    assert link.meter.uploaded / 100_000 == pytest.approx(1 + OVERHEAD, rel=0.001)
    assert link.meter.downloaded / 100_000 == pytest.approx(1 + OVERHEAD, rel=0.001)


def test_a_message_that_breaks_off_is_an_error(link: Link) -> None:
    with pytest.raises(asyncio.IncompleteReadError):
        asyncio.run(P2P.receive_raw_data(Stream((100).to_bytes(8, "big") + b"x" * 99)))


def test_a_large_message_goes_in_chunks_of_a_fraction_of_a_second(link: Link) -> None:
    link.apply(Limits(upload_limit=200_000, download_limit=200_000))
    wire = Stream()
    begin = time.monotonic()
    asyncio.run(P2P.send_raw_data(b"x" * 100_000, wire))
    assert max(wire.sizes) <= 10_000
    assert 0.3 < time.monotonic() - begin < 5
    begin = time.monotonic()
    asyncio.run(P2P.receive_raw_data(wire))
    assert 0.3 < time.monotonic() - begin < 5


def test_bytes_are_counted_by_what_they_are_about(link: Link) -> None:
    async def give_state() -> None:
        current_kind.set("state")
        await P2P.send_raw_data(b"x" * 1000, Stream())

    asyncio.run(give_state())
    asyncio.run(P2P.send_raw_data(b"x" * 1000, Stream()))
    call = p2pd_pb2.PersistentConnectionRequest(
        callId=b"x" * 16, callUnary=p2pd_pb2.CallUnaryRequest(peer=b"x", proto="p", data=b"x" * 1000)
    )
    asyncio.run(control.write_pbmsg(Stream(), call))
    counts = link.meter.by_kind()
    assert all(1000 < counts[kind][0] < 1110 for kind in ("averaging", "state", "dht"))
    assert counts["data"] == (0, 0)


def test_what_only_the_daemon_hears_is_not_counted(link: Link) -> None:
    asyncio.run(control.write_pbmsg(Stream(), p2pd_pb2.PersistentConnectionRequest(callId=b"x" * 16)))
    asyncio.run(control.write_pbmsg(Stream(), p2pd_pb2.Request(type=p2pd_pb2.Request.LIST_PEERS)))
    assert link.meter.uploaded == 0


def test_a_rate_is_the_mean_over_the_last_seconds() -> None:
    meter = Link().meter
    watch = RateWatch(meter)
    watch.read(0.0)
    meter.add("dht", up=1000)
    assert watch.read(2.0).upload_rate == 500
    for second in range(3, 29):
        watch.read(float(second))
    reading = watch.read(29.0)
    assert reading.upload_rate == 0
    assert reading.uploaded == 1000

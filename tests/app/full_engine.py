"""A scripted engine with something to show on every page, and a walk through the window's pages."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace
from PySide6.QtCore import QBuffer, QByteArray, Qt
from PySide6.QtGui import QColor, QImage, QImageWriter, QPainter
from PySide6.QtWidgets import QApplication, QWidget

from app.link.engine_link import Link
from app.window.main_window import MainWindow
from core.api.installation.release import Offer, ReleaseStatus
from core.api.message import Message
from core.api.preferences.schedule import CELLS, Level, ScheduleState
from core.api.project.demonstration import Demonstration, GetDemonstration, Span
from core.api.project.projects import CurvePoint, Figure, GetCurve, ListProjects, ShowProject
from core.api.reasons import Reason
from core.api.record.record import GetHabits, GetOverview, GetSessions
from core.api.sensors import GetSensors, SensorInfo
from core.api.snapshot import GpuUse, Place, Snapshot
from tests.app import full_record
from tests.app.projects.listed import BIRDS, DETAILS, PRACTICE
from tests.app.snapshots import CONTRIBUTING
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen

_NIGHT = "f" * 14 + "." * 20 + "g" * 10 + "f" * 4
PLACE = Place(3, 41, 48_210, 0.09, 0.0)
FITS = replace(DETAILS, info=PRACTICE, requirements={}, missing=())
SENSORS = {
    "gpu": Message("gpus", {"gpus": ["GeForce RTX 3060"]}),
    "network": Message("network", {"reach": Message("online"), "cost": Message("network_not_metered")}),
    "power": Message("power_level", {"source": Message("plugged_in"), "level": 0.96}),
    "presence": Message("last_input", {"ago": 2.0}),
}
OFFER = ReleaseStatus("portable", 1_772_000_000.0, Offer("0.2.0", "- Rounds wait for less.\n- French.", 43_000_000))
WEEK = (_NIGHT * 7)[:CELLS]


def fill(engine: ScriptedEngine, snapshot: Snapshot = CONTRIBUTING) -> None:
    """Give it projects, limits, a week, a learning curve, a record and sensors."""
    joined = replace(BIRDS, joined=True, active=True, rank=1)
    hours = Reason("network_hours", False, {}, time.time() + 7200)
    engine.answer(ListProjects, [joined, replace(PRACTICE, joined=True, rank=2, reasons=(hours,))])
    details = replace(
        DETAILS,
        samples=48_210,
        seconds=11_520.0,
        place=PLACE,
        missing=(Message("needs_memory", {"needed": 32 << 30, "present": 25_125_558_681}),),
    )
    engine.answer(ShowProject, lambda ask: replace(details, info=joined) if ask.project == joined.id else FITS)
    Chosen(engine).change("week", WEEK)
    engine.answer(GetCurve, [curve_point(epoch) for epoch in range(0, 1284, 12)])
    engine.answer(GetDemonstration, lambda ask: demonstration(ask.project))
    engine.answer(GetSensors, [SensorInfo(name, text, True) for name, text in SENSORS.items()])
    engine.answer(GetOverview, full_record.overview())
    engine.answer(GetHabits, full_record.habits())
    engine.answer(GetSessions, lambda ask: [] if ask.before else full_record.sessions())
    engine.show(
        replace(
            snapshot,
            gpu=GpuUse("GeForce RTX 3060", 62, 71, 142, 4_200_000_000),
            settings=replace(snapshot.settings, gpu="GPU-0"),
            schedule=ScheduleState(Level.GENTLE, Level.FULL, time.time() + 5400, zone="Europe/Berlin"),
            place=PLACE,
        )
    )


def demonstration(project: str) -> Demonstration:
    """Pictures of the one project, words of the other."""
    if project == BIRDS.id:
        return Demonstration("nearest_pictures", (), tiles(), 1240, Figure("probe_accuracy", 0.84))
    spans = (
        *(Span("KING RICHARD: My"), Span(" lord", is_made=True), Span(", I will be the")),
        *(Span(" son", is_made=True, right=" heir"), Span(" of this fair realm.")),
    )
    return Demonstration("filled_masks", spans, None, 96, Figure("masked_accuracy", 0.31))


def tiles() -> bytes:
    """A PNG like those of tasks on pictures: rows of small pictures, with transparent edges."""
    image = QImage(252, 201, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    for number in range(20):
        left, top = number % 5 * 51, number // 5 * 51
        painter.fillRect(left, top, 48, 48, QColor.fromHsv(number // 5 * 90, 120 + number % 5 * 30, 200))
    painter.end()
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def curve_point(epoch: int) -> CurvePoint:
    loss = 2.2 + 5 * math.exp(-epoch / 320) + 0.04 * math.sin(epoch)
    own = 400 if epoch % 60 < 24 else 0
    return CurvePoint(epoch, loss, loss + 0.1 if epoch % 240 == 0 else None, own, 9, time.time() - (1284 - epoch) * 600)


def every_page(window: MainWindow) -> Iterator[tuple[str, QWidget]]:
    """The word for a page and the page, each open and laid out."""
    for number, page in enumerate(window._pages):
        window.open_page(number)
        settle(window)
        yield page.word, window.page(number)


@contextmanager
def welcome(window: MainWindow) -> Iterator[QWidget]:
    """What a new volunteer sees first, laid out; afterwards the home page is open."""
    window._show_welcome()
    settle(window)
    assert window._welcome is not None
    yield window._welcome
    window._leave_welcome("home")


def settle(window: MainWindow) -> None:
    """Let answers come, and layouts follow: some change the width of what they hold, and that its height."""
    deadline = time.monotonic() + 10
    for _ in range(6):
        while window._link._requests and window._link.state is Link.UP:
            assert time.monotonic() < deadline, window._link._requests
            QApplication.processEvents()
        QApplication.sendPostedEvents()
        QApplication.processEvents()

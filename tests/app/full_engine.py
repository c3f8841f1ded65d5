"""A scripted engine with something to show on every page, and a walk through the window's pages."""

import math
import time
from collections.abc import Iterator

from msgspec.structs import replace
from PySide6.QtWidgets import QApplication, QWidget

from app.engine_link import Link
from app.main_window import MainWindow
from core.api.limits import ShowLimits
from core.api.preferences import PREFERENCES
from core.api.projects import CurvePoint, GetCurve, ListProjects, ShowProject
from core.api.schedule import CELLS, GetSchedule, ScheduleInfo
from core.api.sensors import GetSensors, SensorInfo
from core.api.snapshot import GpuUse, Snapshot
from tests.app.snapshots import CONTRIBUTING
from tests.app.test_projects_page import BIRDS, DETAILS, PRACTICE
from tests.app.test_quantity import limit
from tests.fakes.scripted_engine import ScriptedEngine

_NIGHT = "f" * 14 + "." * 20 + "g" * 10 + "f" * 4
WEEK = ScheduleInfo((_NIGHT * 7)[:CELLS], None, "Europe/Berlin")


def fill(engine: ScriptedEngine, snapshot: Snapshot = CONTRIBUTING) -> None:
    """Give it projects, limits, a week, a learning curve and sensors."""
    joined = replace(BIRDS, joined=True, active=True, rank=1)
    engine.answer(ListProjects, [joined, replace(PRACTICE, joined=True, rank=2)])
    engine.answer(ShowProject, replace(DETAILS, info=joined))
    engine.answer(ShowLimits, [limit(preference) for preference in PREFERENCES.values()])
    engine.answer(GetSchedule, WEEK)
    engine.answer(GetCurve, [curve_point(epoch) for epoch in range(0, 1284, 12)])
    engine.answer(GetSensors, [SensorInfo("gpu", "GeForce RTX 3060, 12 GiB.", True)])
    engine.show(replace(snapshot, gpu=GpuUse("GeForce RTX 3060", 62, 71, 142, 4_200_000_000)))


def curve_point(epoch: int) -> CurvePoint:
    loss = 2.2 + 5 * math.exp(-epoch / 320) + 0.04 * math.sin(epoch)
    own = 400 if epoch % 60 < 24 else 0
    return CurvePoint(epoch, loss, loss + 0.1 if epoch % 240 == 0 else None, own)


def every_page(window: MainWindow) -> Iterator[tuple[str, QWidget]]:
    """The word for a page and the page, each open and laid out."""
    for number, page in enumerate(window._pages):
        window.open_page(number)
        settle(window)
        yield page.word, window.page(number)


def settle(window: MainWindow) -> None:
    """Let answers come, and layouts follow: some change the width of what they hold, and that its height."""
    deadline = time.monotonic() + 10
    for _ in range(6):
        while window._link._questions and window._link.state is Link.UP:
            assert time.monotonic() < deadline, window._link._questions
            QApplication.processEvents()
        QApplication.sendPostedEvents()
        QApplication.processEvents()

"""How long the history takes with years of hours: `python -m benchmarks.history [--years 5] [--pictures FOLDER]`.

A made-up record is opened by real engines. One is begun for each range, and asked its first question. Another has a
window (offscreen): the time from the click on History until all of it stands there, and to fill and paint it. Then
every question of the page is asked over the socket, in every range, ten times. `--pictures` keeps pictures of it.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QEventLoop
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication

from app.desktop.window_settings import Settings
from app.history import certificate
from app.history.page import HistoryPage
from app.history.time_range import TimeRange, midnight
from app.link.engine_link import EngineLink
from app.widgets import theme
from app.window.application import make_application
from app.window.main_window import MainWindow
from benchmarks.years import fill
from core.api.preferences.commands import SetPreference
from core.api.project.projects import CurvePoint
from core.api.protocol import GetSnapshot, Quit
from core.api.record.record import GetHabits, GetOverview, GetSessions, Habits, Overview, SessionGiven
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient, ensure_engine
from core.client.profile import Profile

TIMES = 10
_RANGES = {"30 days": TimeRange("month"), "year": TimeRange("year"), "all": TimeRange("all")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--years", type=float, default=5.0)
    parser.add_argument("--pictures", type=Path)
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="hive") as folder:
        profile = Profile(Path(folder))
        profile.prepare()
        hours = fill(profile.database, arguments.years, time.time(), always=arguments.pictures is None)
        print(f"{hours} hours in {profile.database.stat().st_size / 1e6:.1f} MB")
        for name, chosen in _RANGES.items():
            with fresh_engine(profile) as engine:
                command = GetOverview(*chosen.bounds(time.time()))
                tell(f"first answer, {name}", partial(engine.request, command, Overview), 1)
        with fresh_engine(profile) as engine:
            paint_everything(profile, arguments.pictures)
            ask_everything(engine)


@contextmanager
def fresh_engine(profile: Profile) -> Iterator[EngineClient]:
    """One that was asked nothing of the history yet, and has ended afterwards."""
    ensure_engine(profile)
    with EngineClient.connect(profile) as engine:
        try:
            # As a window does before it can show any page.
            engine.request(GetSnapshot(), Snapshot)
            yield engine
        finally:
            engine.request(Quit(), NoneType)


def ask_everything(engine: EngineClient) -> None:
    """Print how long the answers take, by question and range."""
    now = time.time()
    for name, chosen in _RANGES.items():
        tell(f"overview, {name}", partial(engine.request, GetOverview(*chosen.bounds(now)), Overview))
        tell(f"habits, {name}", partial(engine.request, GetHabits(*chosen.bounds(now)), Habits))
    tell("sessions", lambda: engine.request(GetSessions(), list[SessionGiven]))
    filtered = GetSessions(project="birdsong", ending="paused")
    tell("sessions of one project", lambda: engine.request(filtered, list[SessionGiven]))


def paint_everything(profile: Profile, pictures: Path | None) -> None:
    """Print how long filling and painting take."""
    application = make_application([])
    theme.apply(application, theme.LIGHT)
    link = EngineLink(profile)
    link.open()
    window = MainWindow(link, Settings(profile))
    window.resize(1080, 760)
    window.show()
    wait(application, lambda: link.snapshot is not None)
    tell("from click to all shown", lambda: open_history(application, window), 1)
    page = window.findChildren(HistoryPage)[0]
    for name, chosen in _RANGES.items():
        page.choose(chosen)
        before = page.overview
        wait(application, partial(shows_another, page, before))
        if shown := page.overview:
            tell(f"filling, {name}", partial(page.show_overview, shown))
        tell(f"painting, {name}", partial(whole, page))
    if pictures:
        keep_pictures(application, link, page, pictures)
    window.hide()
    link.close()


def shows_another(page: HistoryPage, before: Overview | None) -> bool:
    return page.overview is not before


def open_history(application: QApplication, window: MainWindow) -> None:
    window.open_named("history")
    page = window.findChildren(HistoryPage)[0]
    model = page.sessions.table.sessions
    wait(application, lambda: page.overview and page.habits.week.accessibleName() and model.sessions)
    page.grab()


def keep_pictures(application: QApplication, link: EngineLink, page: HistoryPage, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in (("energy_price", 312), ("currency", "EUR"), ("grid_factor", 363)):
        link.ask(SetPreference(name, value))
    page.choose(TimeRange("year"))
    before = page.overview
    wait(application, lambda: page.overview is not before and page.overview is not None and page.overview.cost.co2)
    epochs = range(0, 1300, 3)
    points = [CurvePoint(e, 2.2 + 6 * 0.995**e, None, 200 if e % 40 < 20 else 0, 12) for e in epochs]
    page.curve.set_points(points)
    for tokens, name in ((theme.LIGHT, "light"), (theme.DARK, "dark")):
        theme.apply(application, tokens)
        wait(application, lambda: True)
        page.window().grab().save(str(folder / f"history-{name}.png"))
        whole(page).save(str(folder / f"history-{name}-whole.png"))
    theme.apply(application, theme.LIGHT)
    year = datetime.now().astimezone().year
    begin, end = (midnight(datetime(each, 1, 1).date()) for each in (year - 1, year))  # noqa: DTZ001 - local
    found: list[Overview] = []
    link.ask(GetOverview(begin, end, year - 1), found.append, kind=Overview)
    wait(application, lambda: bool(found))
    certificate.save_summary(found[0], folder / "summary.png", svg=False)
    certificate.save_summary(found[0], folder / "summary.svg", svg=True)
    certificate.save_certificate(found[0], folder / "certificate.pdf", "Ada Lovelace")


def whole(page: HistoryPage) -> QPixmap:
    """All of the page, also what is scrolled out of sight."""
    content = page.widget()
    return content.grab() if content else QPixmap()


def tell(name: str, act: Callable[[], object], times: int = TIMES) -> None:
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        act()
        taken.append((time.perf_counter() - begin) * 1000)
    print(f"{name:28} median {statistics.median(taken):6.1f} ms, longest {max(taken):6.1f} ms")


def wait(application: QApplication, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    application.processEvents()
    while not condition():
        if time.monotonic() >= deadline:
            raise TimeoutError("it did not happen in time")
        application.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)


if __name__ == "__main__":
    main()

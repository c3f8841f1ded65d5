"""The desktop app: one process with the window and the tray icon.

`IDLEHIVE_TIMING=$(date +%s.%N) idlehive` prints on stderr how long after that moment the window was on the screen.
"""

import os
import sys
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication

from app.desktop import language
from app.desktop.autostart import IN_TRAY
from app.desktop.links import project_in
from app.desktop.notifications import Notifications
from app.desktop.opened_files import OpenedFiles
from app.desktop.single_instance import SingleInstance
from app.desktop.tray_host import TrayHost
from app.desktop.unix_signals import UnixSignals
from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink
from app.widgets import icons, theme
from app.window.focus_ring import FocusRing
from app.window.main_window import MainWindow
from app.window.notification_policy import NotificationPolicy
from app.window.quit import QuitDialog
from app.window.tray import Tray
from core.api.errors import WorldError, os_errors_as
from core.api.installation.compute_runtime import InstallRuntime
from core.api.protocol import Command, Event
from core.api.snapshot import Snapshot
from core.client.profile import Profile

if TYPE_CHECKING:
    from app.window.compact import CompactWindow


def open_app(argv: list[str]) -> int:
    """Show the window and stay until the volunteer quits. A second one raises the first and returns at once.

    Raises:
        WorldError: the profile's folder cannot be used, or its window does not answer.
    """
    profile = Profile.from_environment()
    with os_errors_as("profile_unusable", path=str(profile.path)):
        profile.prepare()
    instance = SingleInstance(profile)
    target = project_in(argv)
    if not instance.is_first():
        if not instance.raise_first(target):
            raise WorldError("window_silent")
        return 0
    application = make_application(argv)
    app = WindowApp(application, profile, instance)
    if target:
        app.offer_project(target)
    try:
        code = app.run(IN_TRAY in argv)
    finally:
        instance.release()
    if app.restarts:
        hidden = [IN_TRAY] if not app.window.isVisible() else []
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1 : len(sys.orig_argv) - len(argv)], *hidden])
    return code


def make_application(argv: list[str]) -> QApplication:
    """Qt, with the name, icon and theme of the program."""
    application = QApplication(["idlehive", *argv])
    application.setApplicationName("idlehive")
    application.setApplicationDisplayName("Idlehive")
    application.setDesktopFileName("idlehive")
    application.setWindowIcon(icons.logo())
    application.setQuitOnLastWindowClosed(False)
    theme.follow_system(application)
    return application


class WindowApp(QObject):
    """Owns and connects the parts."""

    def __init__(self, application: QApplication, profile: Profile, instance: SingleInstance) -> None:
        super().__init__()
        self._application = application
        self.link = EngineLink(profile, parent=self)
        self.settings = Settings(profile)
        language.apply(application, self.settings.language)
        theme.choose_scheme(application, self.settings.scheme)
        self.window = MainWindow(self.link, self.settings)
        self.tray = Tray(self.link, self._perform, self)
        self.host = TrayHost(self)
        self.notifications = Notifications(self.tray.show_notification, self)
        self.notification_policy = NotificationPolicy(
            self.link, self.settings, self.notifications.show, self.notifications.withdraw, self
        )
        self.quit_dialog = QuitDialog(self.link, self.window, self.settings)
        self._focus_ring = FocusRing(application)
        self._compact: CompactWindow | None = None
        self._instance = instance
        self._engine_asked: int | None = None
        """Process id of the engine that was asked for the compute runtime."""
        self.restarts = False
        """After the end of `run`: the files of Idlehive were replaced."""
        self._connect()
        QShortcut(QKeySequence("Ctrl+Q"), self.window, self.quit_dialog.ask)
        if started := os.environ.get("IDLEHIVE_TIMING"):
            self.window.painted.connect(lambda: _print_time_since(float(started)))

    def run(self, in_tray: bool = False) -> int:
        """Run the program and return its exit code. `in_tray`: do not open the window."""
        self._instance.listen()
        self.window.painted.connect(self.window.show_last_machine, Qt.ConnectionType.QueuedConnection)
        if in_tray:
            self.link.open()
        else:
            # The engine starts after the first picture: on two cores it would delay it.
            self.window.painted.connect(self.link.open, Qt.ConnectionType.QueuedConnection)
            self.window.show()
        signals = UnixSignals(self.quit_dialog.end_after_signal, self._restart, self)
        code = self._application.exec()
        signals.stop()
        self.host.stop()
        self.link.close()
        self.window.disconnect_machine()
        if self._compact is not None:
            self._compact.close()
        self.tray.icon.hide()
        return code

    def _connect(self) -> None:
        self.settings.changed.connect(self._on_setting)
        self._instance.raised.connect(self.window.bring_up)
        self._instance.opened.connect(self.offer_project)
        if sys.platform == "darwin":
            self._application.installEventFilter(OpenedFiles(self.offer_project, self))
        self.tray.toggled.connect(self.window.toggle)
        self.tray.opened.connect(self.window.bring_up)
        self.tray.compact_asked.connect(self._show_compact)
        self.notifications.clicked.connect(self.window.bring_up)
        self.tray.quit_asked.connect(self._ask_to_quit)
        self.window.quit_asked.connect(self.quit_dialog.ask)
        self.host.came.connect(self.tray.renew)
        self.host.missed.connect(self._stay_in_reach)
        self.quit_dialog.kept.connect(self.window.hide_or_minimise)
        self.link.event_came.connect(self._on_event)
        self.link.snapshot_changed.connect(self._install_runtime)
        self.quit_dialog.leaving.connect(self.host.stop)
        self.quit_dialog.leaving.connect(self.window.hide)
        # Not quit(): that asks the windows first, and they only hide.
        self.quit_dialog.done.connect(lambda: self._application.exit(0))

    def _install_runtime(self, snapshot: Snapshot) -> None:
        """At the first start of a package; afterwards the engine and the volunteer decide.

        Each engine is asked once: one that gives way to another engine takes the request with it.
        """
        if self._engine_asked == snapshot.engine_pid:
            return
        self._engine_asked = snapshot.engine_pid
        found = snapshot.compute
        if not (found.ready or found.step or found.removed or found.needs_consent):
            self.link.ask(InstallRuntime())

    def _restart(self) -> None:
        """The engine starts again by itself."""
        self.restarts = True
        self._application.exit(0)

    def offer_project(self, source: str) -> None:
        """Show a project that another program opened; the volunteer decides whether to add it."""
        self.window.offer_project(source)

    def _show_compact(self) -> None:
        """In the place of the large window."""
        if self._compact is None:
            from app.window.compact import CompactWindow  # most people never open it

            self._compact = CompactWindow(self.link, self._perform)
            self._compact.left.connect(self._leave_compact)
            self._compact.quit_asked.connect(self._ask_to_quit)
        self.window.hide()
        self._compact.show()
        self._compact.raise_()

    def _leave_compact(self) -> None:
        if self._compact is not None:
            self._compact.hide()
        self.window.bring_up()

    def _on_event(self, event: Event) -> None:
        """Another front end ends everything."""
        if event.kind == "quitting":
            self._application.exit(0)

    def _on_setting(self, name: str) -> None:
        if name == "scheme":
            theme.choose_scheme(self._application, self.settings.scheme)
        elif name == "language":
            language.apply(self._application, self.settings.language)
            # Later: this also replaces the page on which it was chosen.
            QTimer.singleShot(0, self, self._retranslate)

    def _retranslate(self) -> None:
        self.window.retranslate()
        self.tray.retranslate()
        if self._compact is not None:
            self._compact.close()
            self._compact = None

    def _perform(self, command: Command) -> None:
        """On the home page as it is now. Tray and compact window are always those of this computer."""
        if self.window.shows_this_computer:
            self.window.home.perform(command)
        else:
            self.link.ask(command)

    def _stay_in_reach(self) -> None:
        """A hidden window without a tray icon could not be opened again."""
        if not self.window.isVisible():
            self.window.showMinimized()

    def _ask_to_quit(self) -> None:
        """From the tray or the compact window: the dialog needs its window."""
        if not self.window.isVisible() and self.quit_dialog.must_ask:
            self.window.bring_up()
        self.quit_dialog.ask()


def _print_time_since(started: float) -> None:
    print(f"window shown after {time.time() - started:.2f} s", file=sys.stderr, flush=True)

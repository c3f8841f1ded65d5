"""The window: the sidebar, the pages, and a notice above them while the engine does not answer."""

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QMessageBox, QStackedWidget, QSystemTrayIcon, QWidget

from app.desktop.window_settings import Settings
from app.home.page import HomePage
from app.link.engine_link import EngineLink, Link
from app.text.i18n import tr
from app.widgets import icons, layouts, theme
from app.widgets.basic import Notice
from app.widgets.dialog import MessageDialog
from app.window import pages
from app.window.machine_switcher import MachineSwitcher
from app.window.sidebar import Sidebar
from core.api.machines import Machine
from core.api.snapshot import Snapshot

if TYPE_CHECKING:
    from app.projects.page import ProjectsPage
    from app.welcome.page import WelcomePage


class MainWindow(QMainWindow):
    """Closing hides it if there is a tray, else minimises it. `quit_asked` ends the program."""

    quit_asked = Signal()
    painted = Signal()
    """Emitted once, at the first paint."""

    def __init__(self, link: EngineLink, settings: Settings) -> None:
        super().__init__()
        self._local = self._link = link
        self._settings = settings
        self._was_painted = False
        self._was_focused = False
        self._welcome: WelcomePage | None = None
        self.setWindowTitle("Idlehive")
        self.setWindowIcon(icons.logo())
        self._build()
        smallest = QSize(theme.scaled(800), theme.scaled(560))
        self.setMinimumSize(smallest.boundedTo(self.screen().availableSize()))
        self.resize(1080, 760)
        if settings.geometry:
            self.restoreGeometry(settings.geometry)
        self._follow(link)

    @property
    def shows_this_computer(self) -> bool:
        return self._link is self._local

    def show_machine(self, machine: Machine | None) -> None:
        """Show another machine of the volunteer's, or this one: None. The open page stays open."""
        if machine == self._link.machine:
            return
        self._link.link_changed.disconnect(self._on_link)
        self._link.snapshot_changed.disconnect(self._on_snapshot)
        self._link.forget_requests()
        before, self._link = self._link, self._local
        if machine is not None:
            from app.link.remote_link import RemoteLink  # most people have one machine

            self._link = RemoteLink(self._settings.profile, machine, self)
        self._settings.machine = machine.name if machine else ""
        self.setWindowTitle(f"{machine.name} – Idlehive" if machine else "Idlehive")
        self._rebuild()
        if before is not self._local:
            before.discard()
        self._follow(self._link)
        if machine is not None:
            self._link.open()

    def show_last_machine(self) -> None:
        """The machine that was shown last, if it is still in the list."""
        self.show_machine(self._machines.named(self._settings.machine))

    def disconnect_machine(self) -> None:
        """Before the end of the program."""
        if not self.shows_this_computer:
            self._link.close()

    def open_page(self, number: int) -> None:
        """Show a page by its place in the sidebar; make it the first time."""
        if number not in self._built:
            page = self._pages[number].make()
            page.setAccessibleName(self._pages[number].name)
            self._built[number] = page
            self._stack.addWidget(page)
        self._stack.setCurrentWidget(self._built[number])
        self._sidebar.show_page(number)

    def open_named(self, name: str) -> None:
        """Show a page by its word."""
        self.open_page([page.word for page in self._pages].index(name))

    def offer_project(self, source: str) -> None:
        """Show the projects page with an address or file that could be added."""
        self.open_named("projects")
        cast("ProjectsPage", self._stack.currentWidget()).offer(source)

    def welcome(self) -> None:
        """Show the welcome page, once for a profile."""
        if self._welcome is None and self._settings.first_time("welcome"):
            self._show_welcome()

    def _show_welcome(self) -> None:
        from app.welcome.page import WelcomePage  # most people never see it

        self._welcome = WelcomePage(self._link, self._leave_welcome)
        self._welcome.setAccessibleName(tr("Welcome"))
        self._stack.addWidget(self._welcome)
        self._stack.setCurrentWidget(self._welcome)
        self._sidebar.hide()
        self._welcome.start.setFocus(Qt.FocusReason.OtherFocusReason)

    def page(self, number: int) -> QWidget:
        """A page that has been opened."""
        return self._built[number]

    def bring_up(self) -> None:
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def toggle(self) -> None:
        """What a click on the tray icon does."""
        if (
            self.isVisible()
            and not self.isMinimized()
            and (self.isActiveWindow() or not self.windowHandle().isExposed())
        ):
            self.close()
        else:
            self.bring_up()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._sidebar.arrange(self.width() >= theme.ROOMY_WINDOW)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._settings.geometry = self.saveGeometry()
        if self._desktop_is_ending():
            event.accept()
            return
        event.ignore()
        if QSystemTrayIcon.isSystemTrayAvailable() and self._settings.first_time("tray"):
            self._explain_tray()
        else:
            self.hide_or_minimise()

    def hide_or_minimise(self) -> None:
        """To where it can be opened again."""
        if QSystemTrayIcon.isSystemTrayAvailable():
            self.hide()
        else:
            self.showMinimized()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            self.painted.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self.update()

    def retranslate(self) -> None:
        """Build everything again in the current language; the open page stays open."""
        self._link.forget_requests()
        self._rebuild()
        self._on_link(self._link.state, self._link.sentence)

    def _follow(self, link: EngineLink) -> None:
        link.link_changed.connect(self._on_link)
        link.snapshot_changed.connect(self._on_snapshot)
        self._on_link(link.state, link.sentence)

    def _rebuild(self) -> None:
        open_page = self._stack.currentWidget()
        number = next((number for number, page in self._built.items() if page is open_page), None)
        if (focused := self.focusWidget()) is not None:
            focused.clearFocus()  # else the focus ring would be deleted with it
        self._welcome = None
        self._build()
        if number is None:
            self._show_welcome()
        else:
            self.open_page(number)
        if self._link.snapshot:
            self.home.show_snapshot(self._link.snapshot)

    def _build(self) -> None:
        self.home = HomePage(self._link, self._settings)
        self.home.day.opened.connect(lambda: self.open_named("schedule"))
        self.home.limit_opened.connect(self._open_limit)
        self.home.release_opened.connect(lambda: self.open_named("settings"))
        self._pages = pages.table(self.home, self._link, self._local, self._settings, self._show_welcome)
        self._built: dict[int, QWidget] = {}
        self._machines = MachineSwitcher(self._settings.profile, self._link.machine, self.show_machine)
        self._sidebar = Sidebar([page.name for page in self._pages], self._machines, self.quit_asked.emit)
        self._sidebar.arrange(self.width() >= theme.ROOMY_WINDOW)
        self._sidebar.chosen.connect(self.open_page)
        again = tr("Restart the engine") if self.shows_this_computer else tr("Connect, and start it there")
        self._notice = Notice("problem-frame", again, self._link.restart)
        self._stack = QStackedWidget()
        self._notice_row = layouts.row(self._notice)
        self._notice_row.setContentsMargins(theme.PAGE_MARGIN, 0, theme.PAGE_MARGIN, 0)
        middle = QWidget()
        middle.setObjectName("page")
        right = layouts.column(self._notice_row, (self._stack, 1))
        layouts.row(self._sidebar, (right, 1), spacing=0, of=middle)
        self.setCentralWidget(middle)
        self.open_page(0)

    def _open_limit(self, name: str) -> None:
        from app.limits.page import LimitsPage  # loaded when it is opened, as all pages

        self.open_named("limits")
        if isinstance(page := self._stack.currentWidget(), LimitsPage):
            page.reveal(name)

    def _leave_welcome(self, page: str) -> None:
        welcome, self._welcome = self._welcome, None
        self._sidebar.show()
        self.open_named(page)
        if welcome is not None:
            self._stack.removeWidget(welcome)
            welcome.deleteLater()

    def _explain_tray(self) -> None:
        box = MessageDialog(
            self,
            tr("Idlehive stays in the tray"),
            tr("Closing the window does not stop contributing."),
            tr(
                "The tray icon shows the state, pauses contributing and opens this window again. To end "
                "Idlehive, choose Quit there or press Ctrl+Q."
            ),
        )
        box.offer(tr("Got it"), QMessageBox.ButtonRole.AcceptRole, "primary")
        box.finished.connect(self.hide)
        box.open()

    def _desktop_is_ending(self) -> bool:
        application = QApplication.instance()
        return isinstance(application, QApplication) and application.isSavingSession()

    def _on_link(self, state: Link, sentence: str) -> None:
        gone = state in {Link.SILENT, Link.GONE}
        self._notice.set_text(sentence if gone else "")
        self._notice_row.setContentsMargins(theme.PAGE_MARGIN, theme.UNIT * 5 if gone else 0, theme.PAGE_MARGIN, 0)
        version = self._link.snapshot.version if self._link.snapshot else ""
        self._sidebar.show_link(state, version, is_remote=not self.shows_this_computer)

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        if not self._was_focused:
            # Only now: without an engine the button cannot have the focus.
            self._was_focused = True
            self.home.button.main.setFocus(Qt.FocusReason.OtherFocusReason)
            if snapshot.project is None and not snapshot.wanted and self.shows_this_computer:
                self.welcome()
        self._on_link(self._link.state, self._link.sentence)

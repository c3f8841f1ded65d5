"""The settings page: start at login, appearance, language, identity, updates, about."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QShowEvent

from app.desktop import autostart
from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink, Link
from app.settings import about
from app.settings.disk_card import DiskCard
from app.settings.doctor_card import DoctorCard
from app.settings.identity_card import IdentityCard
from app.settings.release_card import ReleaseCard
from app.settings.removal_card import RemovalCard
from app.settings.runtime_card import RuntimeCard
from app.settings.setting_row import SettingRow
from app.text import i18n
from app.text.i18n import tr
from app.text.messages import sentence
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Label, Logo, Notice
from app.widgets.controls.combo import Combo
from app.widgets.controls.switch import Switch
from app.widgets.page import Page
from app.widgets.theme import Type
from core.api.errors import WorldError
from core.api.snapshot import Snapshot


class SettingsPage(Page):
    """Changes apply at once."""

    def __init__(self, link: EngineLink, settings: Settings, welcome: Callable[[], None]) -> None:
        """`welcome` shows the welcome page."""
        super().__init__()
        self._welcome = welcome
        self._link = link
        self._settings = settings
        self._login = autostart.for_this_system(settings.profile)
        self._build()
        settings.changed.connect(self._show)
        link.snapshot_changed.connect(self._on_snapshot)
        link.link_changed.connect(self._on_link)
        if link.snapshot:
            self._on_snapshot(link.snapshot)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._link.state is Link.UP:
            self._refresh()

    def _build(self) -> None:
        self._problem = Notice("problem-frame")
        self.identity = IdentityCard(self._link)
        self.disk, self.doctor = DiskCard(self._link), DoctorCard()
        self.runtime, self.release = RuntimeCard(self._link), ReleaseCard(self._link)
        cards = (
            self._desktop(),
            self._appearance(),
            self.identity,
            self.runtime,
            self.disk,
            self.release,
            self.doctor,
            RemovalCard(self._link),
            self._about(),
        )
        self.fill(Label(tr("Settings"), Type.HEADLINE), self._problem, *cards, None)

    def _desktop(self) -> Card:
        self.login, self.notifications = Switch(), Switch()
        self.login.clicked.connect(self._set_login)
        self.notifications.clicked.connect(lambda on: setattr(self._settings, "notifications", on))
        text = tr("Idlehive waits in the tray, and contributes when your schedule and limits allow it.")
        if self._login is None:
            text = tr("Start at login is not supported on this system.")
            self.login.setEnabled(False)
        login = SettingRow(tr("Start at login"), text, self.login)
        answers = {"ask": tr("Ask"), "end": tr("End everything"), "tray": tr("Keep running in the tray")}
        self.quitting = Combo(answers)
        self.quitting.activated.connect(lambda _: setattr(self._settings, "quitting", self.quitting.currentData()))
        text = tr("If something runs: Quit ends it too, or only closes the window.")
        quitting = SettingRow(tr("Quit while contributing"), text, self.quitting)
        text = tr("Few: your first contribution, milestones, and problems that need you.")
        notifications = SettingRow(tr("Notifications"), text, self.notifications)
        return _card(tr("On this desktop"), login, quitting, notifications)

    def _appearance(self) -> Card:
        self.scheme = Combo({"system": tr("As the desktop"), "light": tr("Light"), "dark": tr("Dark")})
        self.scheme.activated.connect(lambda _: setattr(self._settings, "scheme", self.scheme.currentData()))
        scheme = SettingRow(tr("Theme"), tr("Light, dark, or as your desktop."), self.scheme)
        self.language = Combo({"system": tr("As the system")} | i18n.languages())
        self.language.activated.connect(lambda _: setattr(self._settings, "language", self.language.currentData()))
        spoken = SettingRow(
            tr("Language"), tr("Of window and command line. The technical log stays in English."), self.language
        )
        return _card(tr("Appearance and language"), scheme, spoken)

    def _about(self) -> Card:
        text = Label(tr("Idle time for open deep learning. Free software, Apache-2.0."), wrap=True)
        versions = Label(" · ".join(" ".join(one) for one in about.versions()), Type.CAPTION, "muted", wrap=True)
        words = layouts.column(Label("Idlehive", Type.NAME), text, versions, spacing=theme.UNIT // 2)
        head = layouts.row((Logo(48), Qt.AlignmentFlag.AlignTop), (words, 1), spacing=theme.UNIT * 4)
        self.licences = Button(tr("Made with"), "secondary", self._show_licences)
        folder = QUrl.fromLocalFile(str(self._settings.profile.path))
        self.folder = Button(tr("Open the profile's folder"), "secondary", lambda: QDesktopServices.openUrl(folder))
        self.welcome = Button(tr("Show the welcome page"), "secondary", self._welcome)
        buttons = layouts.row(self.welcome, self.licences, None, spacing=theme.UNIT * 2)
        more = layouts.row(self.folder, None)
        self._components = layouts.grid(theme.UNIT * 6, theme.UNIT, 0, 0, 1)
        return _card(tr("About"), head, buttons, more, self._components)

    def _show(self, _name: str = "") -> None:
        self.login.setChecked(self._login is not None and self._login.is_on)
        self.notifications.setChecked(self._settings.notifications)
        self.quitting.setCurrentIndex(self.quitting.findData(self._settings.quitting))
        self.scheme.setCurrentIndex(self.scheme.findData(self._settings.scheme))
        self.language.setCurrentIndex(max(0, self.language.findData(self._settings.language)))

    def _set_login(self, on: bool) -> None:
        self._problem.set_text("")
        try:
            if self._login is not None:
                self._login.set(on)
        except WorldError as error:
            self._problem.set_text(sentence(error.message))
        self._show()

    def _show_licences(self) -> None:
        """Read on demand: twenty packages take a moment."""
        self.licences.setEnabled(False)
        for row, component in enumerate(about.components()):
            for column, text in enumerate(component):
                label = Label(text, Type.CAPTION, "text" if column == 0 else "muted", wrap=column == 2)
                self._components.addWidget(label, row, column)

    def _on_link(self, state: Link, _sentence: str) -> None:
        self.identity.setEnabled(state is Link.UP)
        self.disk.setEnabled(state is Link.UP)
        if state is Link.UP and self.isVisible():
            self._refresh()

    def _refresh(self) -> None:
        self.identity.refresh()
        self.disk.refresh()
        self.release.refresh()

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        self.runtime.show_snapshot(snapshot)
        self.release.show_snapshot(snapshot)


def _card(heading: str, *parts: layouts.Part) -> Card:
    return Card(heading, *parts, spacing=theme.UNIT * 3)

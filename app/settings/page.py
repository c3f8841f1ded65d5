"""The settings page: start at login, appearance, language, identity, updates, about."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout

from app.desktop import autostart
from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink, Link
from app.settings import about
from app.settings.identity_card import IdentityCard
from app.settings.setting_row import SettingRow
from app.text import i18n
from app.text.i18n import tr
from app.text.messages import sentence
from app.widgets import icons, theme
from app.widgets.basic import Button, Card, Label, Notice
from app.widgets.combo import Combo
from app.widgets.page import Page
from app.widgets.switch import Switch
from app.widgets.theme import Type
from core.api.errors import WorldError
from core.api.snapshot import Snapshot


class SettingsPage(Page):
    """Changes apply at once."""

    def __init__(self, link: EngineLink, settings: Settings) -> None:
        super().__init__()
        self._link = link
        self._settings = settings
        self._engine: str | None = None
        """The version that the page shows."""
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
            self.identity.refresh()

    def _build(self) -> None:
        self._problem = Notice("problem-frame")
        column = self.column
        column.addWidget(Label(tr("Settings"), Type.HEADLINE))
        column.addWidget(self._problem)
        self.identity = IdentityCard(self._link)
        for card in (self._desktop(), self._appearance(), self.identity, self._updates(), self._about()):
            column.addWidget(card)
        column.addStretch(1)

    def _desktop(self) -> Card:
        card = _card(tr("On this desktop"))
        self.login, self.notifications = Switch(), Switch()
        self.login.clicked.connect(self._set_login)
        self.notifications.clicked.connect(self._set_notifications)
        text = tr("Idlehive waits in the tray, and contributes when your schedule and limits allow it.")
        if self._login is None:
            text = tr("Start at login is not supported on this system.")
            self.login.setEnabled(False)
        card.column.addWidget(SettingRow(tr("Start at login"), text, self.login))
        card.column.addWidget(
            SettingRow(
                tr("Notifications"),
                tr("Few: your first contribution, milestones, and problems that need you."),
                self.notifications,
            )
        )
        return card

    def _appearance(self) -> Card:
        card = _card(tr("Appearance and language"))
        self.scheme = Combo({"system": tr("As the desktop"), "light": tr("Light"), "dark": tr("Dark")})
        self.scheme.activated.connect(lambda _: setattr(self._settings, "scheme", self.scheme.currentData()))
        card.column.addWidget(SettingRow(tr("Theme"), tr("Light, dark, or as your desktop."), self.scheme))
        languages = i18n.languages()
        self.language = Combo({"system": tr("As the system")} | languages)
        self.language.activated.connect(lambda _: setattr(self._settings, "language", self.language.currentData()))
        row = SettingRow(tr("Language"), tr("Of this window. The log stays in English."), self.language)
        card.column.addWidget(row)
        return card

    def _updates(self) -> Card:
        card = _card(tr("Updates"))
        self._versions = Label("", Type.STRONG, wrap=True)
        card.column.addWidget(self._versions)
        text = tr(
            "Idlehive does not search for updates and does not replace itself. Get a new version where you got "
            "this one, then start Idlehive again."
        )
        card.column.addWidget(Label(text, Type.CAPTION, "muted", wrap=True))
        return card

    def _about(self) -> Card:
        card = _card(tr("About"))
        picture = QLabel()
        picture.setPixmap(icons.logo_picture(48, picture.devicePixelRatioF()))
        picture.setAccessibleName(tr("The logo of Idlehive"))
        words = QVBoxLayout()
        words.setSpacing(theme.UNIT // 2)
        words.addWidget(Label("Idlehive", Type.NAME))
        words.addWidget(Label(tr("Idle time for open deep learning. Free software, Apache-2.0."), wrap=True))
        words.addWidget(Label(" · ".join(" ".join(one) for one in about.versions()), Type.CAPTION, "muted", wrap=True))
        head = QHBoxLayout()
        head.setSpacing(theme.UNIT * 4)
        head.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        self.licences = Button(tr("Made with"), "secondary", self._show_licences)
        folder = QUrl.fromLocalFile(str(self._settings.profile.path))
        self.folder = Button(tr("Open the profile's folder"), "secondary", lambda: QDesktopServices.openUrl(folder))
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.UNIT * 2)
        buttons.addWidget(self.licences)
        buttons.addWidget(self.folder)
        buttons.addStretch(1)
        self._components = QGridLayout()
        self._components.setHorizontalSpacing(theme.UNIT * 6)
        self._components.setVerticalSpacing(theme.UNIT)
        self._components.setColumnStretch(2, 1)
        card.column.addLayout(head)
        card.column.addLayout(buttons)
        card.column.addLayout(self._components)
        return card

    def _show(self, _name: str = "") -> None:
        """Show the stored settings."""
        self.login.setChecked(self._login is not None and self._login.is_on)
        self.notifications.setChecked(self._settings.notifications)
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

    def _set_notifications(self, on: bool) -> None:
        self._settings.notifications = on

    def _show_licences(self) -> None:
        """Read on demand: twenty packages take a moment."""
        self.licences.setEnabled(False)
        for row, component in enumerate(about.components()):
            for column, text in enumerate(component):
                label = Label(text, Type.CAPTION, "text" if column == 0 else "muted", wrap=column == 2)
                self._components.addWidget(label, row, column)

    def _on_link(self, state: Link, _sentence: str) -> None:
        self.identity.setEnabled(state is Link.UP)
        if state is Link.UP and self.isVisible():
            self.identity.refresh()

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.version == self._engine:
            return  # reads files
        self._engine = snapshot.version
        own = about.version()
        text = tr("This is Idlehive {version}.", version=own) if own else tr("This is Idlehive, from a checkout.")
        if snapshot.version != own:
            text += " " + tr("The running engine is {version}: quit both to change it.", version=snapshot.version)
        self._versions.setText(text)


def _card(heading: str) -> Card:
    card = Card(heading)
    card.column.setSpacing(theme.UNIT * 3)
    return card

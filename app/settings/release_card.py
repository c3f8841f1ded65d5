"""New versions on the settings page: what runs, what is offered, and how it is installed."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit

from app.link.engine_link import EngineLink
from app.settings.setting_row import SettingRow
from app.text import preferences
from app.text.i18n import tr
from app.text.installation import release as words
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Label, Notice
from app.widgets.controls.switch import Switch
from app.widgets.theme import Type
from core.api.installation.release import CheckRelease, InstallRelease, ReleaseCommand, ReleaseStatus
from core.api.preferences.commands import ListPreferences, PreferenceInfo, SetPreference
from core.api.snapshot import Snapshot
from core.client.installation import version

_SWITCH = "check_releases"


class ReleaseCard(Card):
    """Without a publisher only the versions are shown."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__(tr("Updates"), spacing=theme.UNIT * 3)
        self._link = link
        self._versions: tuple[str, str] | None = None
        self.versions, self.text = Label("", Type.STRONG, wrap=True), Label("", wrap=True)
        self.changelog = QPlainTextEdit()
        self.changelog.setReadOnly(True)
        self.changelog.setAccessibleName(tr("What is new"))
        self.changelog.setFixedHeight(theme.UNIT * 40)
        self.command = Label("", Type.STRONG, wrap=True)
        self.problem = Notice("problem-frame")
        self.check = Button(tr("Check now"), "secondary", lambda: self._ask(CheckRelease()))
        self.install = Button(tr("Install"), "primary", lambda: self._ask(InstallRelease()))
        self.copy = Button(tr("Copy the command"), "secondary", self._copy)
        self.daily = Switch()
        self.daily.clicked.connect(self._set_daily)
        name, meaning = preferences.words(_SWITCH)
        self.row = SettingRow(name, meaning, self.daily)
        buttons = layouts.row(self.install, self.copy, self.check, None, spacing=theme.UNIT * 2)
        self.add(self.versions, self.text, self.changelog, self.command, buttons, self.row, self.problem)

    def refresh(self) -> None:
        """The switch belongs to the engine's preferences."""
        self._link.ask(ListPreferences(), self._show_switch, kind=list[PreferenceInfo])

    def show_snapshot(self, snapshot: Snapshot) -> None:
        own = version()
        if (own, snapshot.version) != self._versions:
            self._versions = own, snapshot.version
            self._show_versions(own, snapshot.version)
        self._show_release(snapshot.release)

    def _show_versions(self, own: str, engine: str) -> None:
        text = tr("This is Idlehive {version}.", version=own) if own else tr("This is Idlehive, from a checkout.")
        if engine != own:
            text += " " + tr("The running engine is {version}: quit both to change it.", version=engine)
        self.versions.setText(text)

    def _show_release(self, release: ReleaseStatus) -> None:
        self.text.setText(words.describe(release))
        changelog = release.offer.changelog if release.offer else ""
        if changelog != self.changelog.toPlainText():
            self.changelog.setPlainText(changelog)
        self.changelog.setVisible(bool(changelog))
        self.command.setText(words.command(release))
        self.command.setVisible(bool(release.file))
        self.copy.setVisible(bool(release.file))
        self.install.set_text(tr("Install and start again") if release.package == "portable" else tr("Download"))
        self.install.setVisible(release.offer is not None and not release.file and not release.installed)
        self.check.setVisible(bool(release.package))
        for button in (self.check, self.install):
            button.setEnabled(release.step is None)
        self.row.setVisible(bool(release.package))

    def _ask(self, command: ReleaseCommand) -> None:
        self.problem.set_text("")
        self._link.ask(command, refused=self.problem.set_text)

    def _set_daily(self, on: bool) -> None:
        self.problem.set_text("")
        self._link.ask(SetPreference(_SWITCH, on), lambda _: self.refresh(), self.problem.set_text, kind=PreferenceInfo)

    def _show_switch(self, known: list[PreferenceInfo]) -> None:
        self.daily.setChecked(any(info.value for info in known if info.name == _SWITCH))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.command.text())

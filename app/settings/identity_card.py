"""The identity on the settings page: the signing key, export and import."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from app.desktop import private_file
from app.link.engine_link import EngineLink
from app.settings.passphrase import PassphraseDialog
from app.text.i18n import tr
from app.text.messages import sentence
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Label, Notice
from app.widgets.theme import Type
from core.api import identity as api
from core.api.errors import IdlehiveError


class IdentityCard(Card):
    """The secret part of the key stays with the engine, or goes to a file under a passphrase."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__(tr("Identity"), spacing=theme.UNIT * 3)
        self._link = link
        self.problem, self.confirmation = Notice("problem-frame"), Notice("notice-frame")
        self.key = Label("", Type.STRONG, wrap=True)
        self.export = Button(tr("Export…"), "secondary", self._choose_target)
        self.import_ = Button(tr("Import…"), "secondary", self._choose_source)
        text = tr(
            "A key of yours signs what you give, so that several computers count as one volunteer. You can choose a "
            "name for it on the limits page."
        )
        buttons = layouts.row(self.export, self.import_, None, spacing=theme.UNIT * 2)
        self.add(self.key, Label(text, Type.CAPTION, "muted", wrap=True), buttons, self.problem, self.confirmation)

    def refresh(self) -> None:
        self._link.ask(api.GetIdentity(), self.show_identity, self.problem.set_text, kind=api.IdentityInfo)

    def show_identity(self, info: api.IdentityInfo) -> None:
        self.key.setText(tr("Your key begins with {key}", key=api.short(info.id)))
        self.key.setToolTip(info.id)

    def export_to(self, path: Path, passphrase: str) -> None:
        """Ask the engine to encrypt the key, and write it to a file."""

        def write(export: api.IdentityExport) -> None:
            try:
                private_file.write(path, export.text)
            except IdlehiveError as error:
                self.problem.set_text(sentence(error.message))
            else:
                self.confirmation.set_text(
                    tr("Your identity is in {path}; it opens with your passphrase only.", path=path)
                )

        self._begin()
        self._link.ask(api.ExportIdentity(passphrase), write, self.problem.set_text, kind=api.IdentityExport)

    def import_from(self, path: Path, passphrase: str, replace: bool) -> None:
        """Ask the engine to import a key from a file."""

        def done(info: api.IdentityInfo) -> None:
            self.show_identity(info)
            self.confirmation.set_text(tr("This computer uses that identity from the next session on."))

        self._begin()
        try:
            text = private_file.read(path)
        except IdlehiveError as error:
            self.problem.set_text(sentence(error.message))
        else:
            self._link.ask(
                api.ImportIdentity(text, passphrase, replace), done, self.problem.set_text, kind=api.IdentityInfo
            )

    def _choose_target(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, tr("Export your identity"), "idlehive.identity")
        if path:
            text = tr("Anyone with this file and its passphrase can contribute in your name. Choose a passphrase.")
            dialog = PassphraseDialog(self, tr("Export"), text, twice=True)
            dialog.given.connect(lambda passphrase, _: self.export_to(Path(path), passphrase))
            dialog.open()

    def _choose_source(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, tr("Import an identity"))
        if path:
            option = tr("Replace the identity on this computer")
            dialog = PassphraseDialog(self, tr("Import"), tr("The passphrase of this file:"), option=option)
            dialog.given.connect(lambda passphrase, replace: self.import_from(Path(path), passphrase, replace))
            dialog.open()

    def _begin(self) -> None:
        self.problem.set_text("")
        self.confirmation.set_text("")

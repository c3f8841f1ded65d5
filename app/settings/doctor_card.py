"""What `idlehive doctor` finds, in the window, and a copy of it for a problem report."""

import getpass
import platform
import time
from pathlib import Path

import msgspec
from PySide6.QtCore import QProcess
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.settings import about
from app.text import diagnostics
from app.text.formats import times
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Dot, Label, Notice
from app.widgets.theme import Type
from core.client.installation import core_command, core_environment

_TONES = {"ok": "good", "warn": "working", "problem": "problem"}


class Finding(msgspec.Struct, frozen=True):
    """As `idlehive doctor --json` prints it."""

    name: str
    level: str
    text: str
    advice: str = ""


class DoctorCard(Card):
    """The check runs in a process of its own: drivers and services may hang."""

    def __init__(self) -> None:
        super().__init__(tr("Problem report"), spacing=theme.UNIT * 3)
        text = tr(
            "What Idlehive finds on this computer and what is missing, in English as those who help read it. The copy"
            " has no names, keys and addresses."
        )
        self.check = Button(tr("Check this computer"), "secondary", self.begin)
        self.copy = Button(tr("Copy diagnostics"), "secondary", self._copy)
        self.copy.setEnabled(False)
        self.checked = Label("", Type.CAPTION, "muted")
        self.problem, self._findings = Notice("problem-frame"), list[Finding]()
        self._rows = layouts.column(spacing=theme.UNIT)
        buttons = layouts.row(self.check, self.copy, None, spacing=theme.UNIT * 2)
        self.add(Label(text, Type.CAPTION, "muted", wrap=True), buttons, self.problem, self.checked, self._rows)
        self._process = QProcess(self)
        self._process.finished.connect(self._on_end)

    def begin(self) -> None:
        self.check.setEnabled(False)
        self.problem.set_text("")
        self._process.setEnvironment([f"{name}={value}" for name, value in core_environment().items()])
        program, *arguments = core_command("app", "doctor", "--json")
        self._process.start(program, arguments)

    @property
    def report(self) -> str:
        """What is copied."""
        versions = " · ".join(" ".join(one) for one in about.versions())
        lines = [f"{each.level:<8}{each.name}: {each.text} {each.advice}".rstrip() for each in self._findings]
        names = getpass.getuser(), platform.node()
        return diagnostics.without_names("\n".join([versions, *lines]), str(Path.home()), names)

    def show_findings(self, findings: list[Finding]) -> None:
        self._findings = findings
        self.checked.setText(tr("Checked at {time}.", time=times.second(time.time())))
        layouts.clear(self._rows)
        for each in findings:
            dot = Dot()
            dot.set_tone(_TONES.get(each.level, "quiet"))
            words = Label(f"{each.name}: {each.text} {each.advice}".rstrip(), Type.CAPTION, wrap=True)
            row = QWidget()
            layouts.row(dot, (words, 1), spacing=theme.UNIT * 2, of=row)
            self._rows.addWidget(row)
        self.copy.setEnabled(bool(findings))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report)

    def _on_end(self, *_: object) -> None:
        self.check.setEnabled(True)
        try:
            found = msgspec.json.decode(bytes(self._process.readAllStandardOutput().data()), type=list[Finding])
        except msgspec.DecodeError:
            self.problem.set_text(tr("The check could not be run."))
        else:
            self.show_findings(found)

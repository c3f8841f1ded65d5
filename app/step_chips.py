"""The four steps of an epoch as a row of chips, the present one in the accent."""

from typing import get_args

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import theme, wording
from app.texts import tr
from app.theme import Type
from app.widgets import Label
from core.api.snapshot import Phase


class StepChips(QWidget):
    """Shows a phase; None while no epoch is being worked on here."""

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.UNIT * 2)
        self._chips: dict[Phase, Label] = {}
        for phase in get_args(Phase):
            chip = Label(wording.step_name(phase), Type.CAPTION, "chip")
            chip.setToolTip(wording.step_meaning(phase))
            row.addWidget(chip)
            self._chips[phase] = chip
        row.addStretch(1)
        self.show_phase(None)

    def show_phase(self, now: Phase | None) -> None:
        for phase, chip in self._chips.items():
            theme.set_role(chip, "chip-now" if phase == now else "chip")
        self.setAccessibleName(
            tr("Step: {step}. {meaning}", step=wording.step_name(now), meaning=wording.step_meaning(now))
            if now
            else tr("No step at the moment")
        )

"""A row of chips: the steps of getting ready, then those of an epoch, the present one in the accent."""

from PySide6.QtWidgets import QWidget

from app.text import steps as steps_text
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Label
from app.widgets.flow import FlowLayout
from app.widgets.theme import Type
from core.api.snapshot import Snapshot


class StepChips(QWidget):
    def __init__(self) -> None:
        super().__init__()
        idle = Snapshot(state="idle")
        self._chips = [Label(step.name, Type.CAPTION, "chip") for step in steps_text.steps(idle)]
        self.setLayout(FlowLayout(*self._chips, spacing=theme.UNIT * 2))
        self.show_snapshot(idle)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        steps = steps_text.steps(snapshot)
        for step, chip in zip(steps, self._chips, strict=True):
            chip.setText(step.name)
            chip.setToolTip(step.meaning)
            theme.set_role(chip, "chip-now" if step.is_now else "chip")
        now = next((step for step in steps if step.is_now), None)
        self.setAccessibleName(
            tr("Step: {step}. {meaning}", step=now.name, meaning=now.meaning) if now else tr("No step at the moment")
        )

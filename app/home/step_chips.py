"""A row of chips: the steps of getting ready, then those of an epoch, the present one in the accent."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from app.text import steps as steps_text
from app.text.i18n import tr
from app.text.steps import Step
from app.widgets import layouts, theme
from app.widgets.basic import Label
from app.widgets.flow import FlowLayout
from app.widgets.theme import Type
from core.api.snapshot import Snapshot


class StepChips(QWidget):
    """As high as the higher one of both rows."""

    def __init__(self) -> None:
        super().__init__()
        idle = Snapshot(state="idle")
        self._getting_ready, self._epoch = (_Row(steps_text.steps(of)) for of in (Snapshot(state="starting"), idle))
        place = layouts.grid(0, 0, 1, of=self)
        place.addWidget(self._getting_ready, 0, 0)
        place.addWidget(self._epoch, 0, 0)
        self.show_snapshot(idle)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        steps, is_ready = steps_text.steps(snapshot), not steps_text.is_getting_ready(snapshot)
        self._getting_ready.setHidden(is_ready)
        self._epoch.setVisible(is_ready)
        (self._epoch if is_ready else self._getting_ready).show_steps(steps)
        now = next((step for step in steps if step.is_now), None)
        self.setAccessibleName(
            tr("Step: {step}. {meaning}", step=now.name, meaning=now.meaning) if now else tr("No step at the moment")
        )


class _Row(QWidget):
    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__()
        self._chips = [Label(step.name, Type.CAPTION, "chip") for step in steps]
        for step, chip in zip(steps, self._chips, strict=True):
            chip.setToolTip(step.meaning)
        self.setLayout(FlowLayout(*self._chips, spacing=theme.UNIT * 2))
        layouts.keep_place(self)

    def show_steps(self, steps: Sequence[Step]) -> None:
        for step, chip in zip(steps, self._chips, strict=True):
            theme.set_role(chip, "chip-now" if step.is_now else "chip")

"""Adds the history of the volunteer's other machines to the record of this computer."""

import threading
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.text.formats import amounts
from app.text.i18n import tr
from app.text.messages import sentence
from core.api.errors import IdlehiveError
from core.api.record.record import ImportHistory, Written
from core.client.collecting import TIMEOUT, collect
from core.client.engine_client import EngineClient
from core.client.machines import Machines
from core.client.profile import Profile


class OtherMachines(QObject):
    """It blocks a thread of its own, one machine after the other."""

    reported = Signal(str)
    changed = Signal()

    def __init__(self, profile: Profile, parent: QObject) -> None:
        super().__init__(parent)
        self._profile = profile
        self._runs = False
        self.changed.connect(self._end)

    def begin(self) -> None:
        if not self._runs:
            self._runs = True
            self.reported.emit(tr("The history of your other machines is being read…"))
            threading.Thread(target=self._collect, name="history", daemon=True).start()

    def _collect(self) -> None:
        new, problems = 0, []
        try:
            machines = Machines(self._profile).all()
        except IdlehiveError as error:
            machines, problems = [], [sentence(error.message)]
        for machine in machines:
            try:
                new += collect(machine, self._add).new_hours
            except IdlehiveError as error:
                problems.append(sentence(error.message))
        with suppress(RuntimeError):  # the page is gone
            self.reported.emit(" ".join([self._result(len(machines), new), *problems]))
            self.changed.emit()

    def _add(self, file: Path) -> Written:
        with EngineClient.connect(self._profile) as engine:
            return engine.request(ImportHistory(str(file)), Written, timeout=TIMEOUT)

    def _result(self, machines: int, new: int) -> str:
        if not machines:
            return tr("There are no other machines: the menu above “Home” adds one.")
        return tr("Your other machines are read: {hours} new.", hours=amounts.hours(new))

    def _end(self) -> None:
        self._runs = False

"""The libraries for training on the settings page: repair and removal."""

from app.link.engine_link import EngineLink
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Card, Label, Notice
from app.widgets.compute_runtime import RuntimeView
from app.widgets.theme import Type
from core.api.installation.compute_runtime import InstallRuntime, RemoveRuntime
from core.api.snapshot import Snapshot
from core.client.installation import package


class RuntimeCard(Card):
    """Hidden in a checkout, which has its own libraries."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__(tr("Libraries for training"), spacing=theme.UNIT * 3)
        self._link = link
        self.view = RuntimeView(self._perform)
        self.problem = Notice("problem-frame")
        text = tr(
            "Torch, hivemind and others, chosen for this computer. After “Remove”, contributing waits until you "
            "install them again."
        )
        self.add(self.view, Label(text, Type.CAPTION, "muted", wrap=True), self.problem)
        if package() is None:
            self.hide()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self.view.show_runtime(snapshot.compute)

    def _perform(self, command: InstallRuntime | RemoveRuntime) -> None:
        self.problem.set_text("")
        self._link.ask(command, refused=self.problem.set_text)

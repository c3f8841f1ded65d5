"""The learning curve of one project, with this volunteer's samples below it."""

from app.history.charts.samples_strip import SamplesStrip
from app.history.menu_button import MenuButton
from app.link.engine_link import EngineLink
from app.text import history
from app.text.i18n import tr
from app.widgets import layouts
from app.widgets.basic import Card, Label
from app.widgets.charts.learning_curve import CurveView
from app.widgets.theme import Type
from core.api.project.projects import CurvePoint, GetCurve
from core.api.record.record import Overview


class HistoryCurve(Card):
    """Requests the curve of the chosen project; the first choice is the project with the most hours."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__(name=tr("Learning curve"))
        self._link = link
        self._project: str | None = None
        self._curve, self._strip = CurveView(), SamplesStrip()
        self._curve.setMinimumHeight(150)
        self._choice = MenuButton(tr("Project of the learning curve"), self._choose)
        heading = Label(tr("What the model learned, and your samples along it"), Type.LABEL, "muted")
        self.add(layouts.row((heading, 1), self._choice), self._curve, self._strip)

    def show_overview(self, overview: Overview) -> None:
        projects = history.by_name(overview.projects)
        is_new = self._project not in projects.values() and bool(projects)
        chosen = next(iter(projects.values())) if is_new else self._project
        self._choice.offer(projects, chosen)
        if is_new:
            self._choose(chosen)

    def set_points(self, points: list[CurvePoint]) -> None:
        self._curve.set_points(points)
        self._strip.set_points(points if self._curve.points else ())

    def _choose(self, project: str | None) -> None:
        self._project = project

        def show(points: list[CurvePoint]) -> None:
            if project == self._project:
                self.set_points(points)

        # A project that is no longer in the list has no curve; its hours stay.
        if project is not None:
            self._link.ask(GetCurve(project), show, lambda _sentence: show([]), list[CurvePoint])

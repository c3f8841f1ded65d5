"""The memberships side by side: what stands against each of them, and which one is at hand."""

from collections.abc import Callable

from core.api.project.manifest import Requirements
from core.api.reasons import Reason
from core.engine.decision import machine_rules
from core.engine.decision.decide import Decision, Failure, Membership
from core.engine.decision.project_selection import Candidate, Choice, choose, own_reasons
from core.engine.decision.states import Contributing, Failed, Idle, State
from core.engine.projects.catalogue import BUILTIN, Catalogue
from core.store.projects import Project

Judge = Callable[[Membership | None, Failure | None, bool], Decision]
"""The decision about a membership, its last failure, and whether the session at hand is in it."""


class JoinedProjects:
    """Remembers which project is at hand, and of the others how their last session failed."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._last_failures: dict[str, Failure] = {}
        self._min_bandwidths: dict[str, int] = {}
        self._candidates: tuple[Candidate, ...] = ()
        self._choice = Choice()

    def decide(self, pinned: str | None, judge: Judge, state: State, now: float) -> Decision:
        """About the project at hand: the one that the volunteer named, else the first in order that can run."""
        self._note(state)
        members = [p for p in self._catalogue.all() if p.joined_at is not None and pinned in (None, p.id)]
        active = None if isinstance(state, Idle | Failed) else state.project
        decisions = {
            project.id: judge(self._membership(project), self._failure(project.id, state), project.id == active)
            for project in members
        }
        self._candidates = tuple(
            Candidate(name, decision.reasons, self._failures(name)) for name, decision in decisions.items()
        )
        self._choice = choose(self._choice, self._candidates, now, in_session=active is not None)
        if self._choice.project is None:
            return judge(None, None, active is not None)
        return decisions[self._choice.project]

    def earlier_failures(self) -> int:
        """Of the project at hand, in a row."""
        return self._failures(self._choice.project) if self._choice.project else 0

    def reasons(self, project: str) -> tuple[Reason, ...]:
        """What stands against this project while another one could run."""
        return own_reasons(self._candidates).get(project, ())

    def moments(self) -> list[float]:
        """When the choice may change by itself, UTC seconds."""
        ends = [reason.until for candidate in self._candidates for reason in candidate.reasons]
        return [moment for moment in (self._choice.change_at, *ends) if moment is not None]

    def anew(self) -> None:
        """The volunteer says what to do: no waiting for better times, and earlier failures are forgotten."""
        self._choice = Choice()
        self._last_failures.clear()

    def needs_bandwidth(self, project: str, slowest: int) -> None:
        """A session has found below which speed its rounds cannot end, bytes per second."""
        self._min_bandwidths[project] = slowest

    def _note(self, state: State) -> None:
        match state:
            case Failed():
                self._last_failures[state.project] = state.failure
            case Contributing(failures=0):
                self._last_failures.pop(state.project, None)

    def _failure(self, project: str, state: State) -> Failure | None:
        # The lifecycle itself knows when a failure of the project at hand is over.
        if isinstance(state, Failed) and state.project == project:
            return state.failure
        return None if project == self._choice.project else self._last_failures.get(project)

    def _failures(self, project: str) -> int:
        failure = self._last_failures.get(project)
        return failure.failures if failure else 0

    def _membership(self, project: Project) -> Membership:
        manifest, is_practice = project.manifest, project.source == BUILTIN
        needs = manifest.requirements if manifest else Requirements()
        return Membership(
            project.id,
            self._catalogue.info(project).name,
            gpu_memory=needs.gpu_memory,
            needs_internet=not is_practice and machine_rules.needs_internet(manifest),
            min_bandwidth=max(needs.upload, needs.download, self._min_bandwidths.get(project.id, 0)),
            has_own_backbone=is_practice,
        )

"""Joined projects as the rules read them."""

from collections.abc import Mapping

from core.api.project.manifest import Requirements
from core.engine.decision.facts import Membership
from core.engine.decision.rules import machine_rules
from core.engine.projects.catalogue import BUILTIN, Catalogue
from core.store.projects import Project


def memberships(
    catalogue: Catalogue, pinned: str | None, measured_bandwidths: Mapping[str, int]
) -> tuple[Membership, ...]:
    """In the volunteer's order; only `pinned` if the volunteer chose a project.

    `measured_bandwidths` has, by project, bytes per second below which its rounds cannot end.
    """
    chosen = (project for project in catalogue.members() if pinned in (None, project.id))
    return tuple(_membership(project, measured_bandwidths.get(project.id, 0)) for project in chosen)


def _membership(project: Project, measured_bandwidth: int) -> Membership:
    manifest, is_practice = project.manifest, project.source == BUILTIN
    needs = manifest.requirements if manifest else Requirements()
    return Membership(
        project.id,
        gpu_memory=needs.gpu_memory,
        needs_internet=not is_practice and machine_rules.needs_internet(manifest),
        min_bandwidth=max(needs.upload, needs.download, measured_bandwidth),
        has_own_backbone=is_practice,
    )

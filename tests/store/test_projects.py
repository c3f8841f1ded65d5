"""The list of projects and the memberships, with real SQLite files."""

import json

from core.api.project.manifest import Manifest
from core.api.project.manifest_reading import parse
from core.api.snapshot import Traffic
from core.store.store import Store
from tests.fakes.scripted_host import manifest
from tests.store.given import NOON, counters


class TestProjects:
    def test_members_come_by_rank_before_what_is_only_listed(self, store: Store) -> None:
        description = parse_with("listed"), parse_with("second"), parse_with("first")
        for number, project in enumerate(description):
            store.projects.put(project.id, "http://localhost/m", project, NOON + number)
        store.projects.join("first", NOON)
        store.projects.join("second", NOON)
        store.projects.join("first", NOON + 1)
        found = store.projects.all()
        assert [(p.id, p.joined_at) for p in found] == [("first", NOON), ("second", NOON), ("listed", None)]
        assert found[0].manifest == description[2]

    def test_leaving_keeps_the_project_and_its_history(self, store: Store) -> None:
        store.projects.put("p", "builtin", None, NOON)
        store.projects.join("p", NOON)
        store.journal.begin("p", "run", NOON)
        store.journal.add(counters(10), Traffic(), NOON)
        store.projects.leave("p")
        assert [(p.id, p.joined_at) for p in store.projects.all()] == [("p", None)]
        assert store.history.given_to("p")[0] == 10

    def test_a_manifest_is_renewed_and_one_that_cannot_be_had_does_not_erase_it(self, store: Store) -> None:
        old, new = parse_with("p"), parse_with("p", name="New")
        store.projects.put("p", "a", old, NOON)
        store.projects.put("p", "a", None, NOON)
        assert store.projects.all()[0].manifest == old
        store.projects.put("p", "a", new, NOON)
        assert store.projects.all()[0].manifest == new

    def test_a_stored_manifest_that_is_no_longer_understood_counts_as_unknown(self, store: Store) -> None:
        with store.database.transaction() as connection:
            connection.execute("INSERT INTO project VALUES ('p', 's', '{\"format\": 1}', 0)")
        assert store.projects.all()[0].manifest is None

    def test_where_a_secret_is_kept_is_remembered_with_the_membership(self, store: Store) -> None:
        store.projects.put("p", "s", None, NOON)
        store.projects.join("p", NOON)
        store.projects.set_keeper("p", "file")
        assert store.projects.all()[0].secret == "file"
        store.projects.leave("p")
        assert store.projects.all()[0].secret is None


def parse_with(id: str, **changes: str) -> Manifest:  # noqa: A002 - the project's own word
    return parse(json.dumps(manifest(id=id, **changes)).encode(), "http://localhost/m")

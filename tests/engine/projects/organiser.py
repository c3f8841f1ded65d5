"""An organiser who publishes manifests."""

import json
from typing import Any

from tests.fakes.scripted_host import Pages, manifest


class Organiser(Pages):
    """A project's web server."""

    def publish(self, **changes: Any) -> str:
        self.pages["m.json"] = json.dumps(manifest(**{"id": "poems", "name": "Poems", **changes})).encode()
        return self.url("m.json")

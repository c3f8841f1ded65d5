"""Removing everything, as far as the keyring: the files are in `tests/app/settings/test_removal.py`."""

import asyncio
import contextlib
from pathlib import Path

from core.api.proxy import PASSWORD
from core.client.keyrings import SERVICE
from core.client.profile import Profile
from core.engine.projects.credentials import Credentials
from core.engine.remove_everything import remove
from core.store.store import Store
from tests.fakes.keyring_in_memory import in_place


def test_every_secret_in_the_keyring_is_forgotten_and_named(tmp_path: Path) -> None:
    profile = Profile(tmp_path / "profile")
    profile.prepare()
    with in_place() as keyring:
        keyring.kept[SERVICE, "another program"] = "stays"
        credentials = Credentials(profile.path)
        for name in ("closed", PASSWORD):
            assert asyncio.run(credentials.store(name, "sesame")) == "keyring"
        with contextlib.closing(Store(profile.database)) as store:
            store.projects.put("closed", "https://a.example/manifest.json", None, 0.0)
            store.projects.join("closed", 0.0)
            store.projects.set_keeper("closed", "keyring")
            store.preferences.set(PASSWORD, "keyring")
        removed = remove(profile)
        assert set(removed.secrets) == {"closed", PASSWORD}
        assert keyring.kept == {(SERVICE, "another program"): "stays"}
    assert not profile.path.exists()

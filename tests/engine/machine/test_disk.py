"""What a profile holds on the disk, and what of it goes when space is wanted."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from core.api.project.fields import File
from core.client.profile import Profile
from core.engine.machine.disk import Disk
from core.system.cache import Cache

USED, UNUSED = "a" * 64, "b" * 64


@pytest.fixture
def profile() -> Iterator[Profile]:
    """With two data files, of which a process uses one, a copy, logs and a record."""
    with TemporaryDirectory(prefix="hive") as folder:
        yield from _filled(Profile(Path(folder)))


def _filled(profile: Profile) -> Iterator[Profile]:
    profile.prepare()
    for name in (USED, UNUSED):
        (profile.cache / name).write_bytes(b"x" * 1000)
    copy = profile.copies / "run"
    copy.mkdir()
    (copy / "epoch-3").write_bytes(b"x" * 300)
    (profile.logs / "engine.log").write_bytes(b"x" * 20)
    (profile.logs / "engine.log.1").write_bytes(b"x" * 50)
    profile.database.write_bytes(b"x" * 7)
    libraries = profile.compute / "cpu-3.11" / "lib"
    libraries.mkdir(parents=True)
    (libraries / "torch").write_bytes(b"x" * 5000)
    with closing(Cache(profile.cache, 10_000)) as cache:
        assert cache.find(File("https://example.org/a", USED, 1000))
        yield profile


def test_what_is_held_is_counted_by_kind(profile: Profile) -> None:
    use = asyncio.run(Disk(profile).use(in_session=False))
    assert (use.copies, use.record, use.logs, use.to_free) == (300, 7, 70, 1350)
    assert use.compute == 5000
    assert use.data >= 2000
    assert use.other < 5000
    assert use.disk_free > 0


def test_freeing_keeps_what_is_in_use_and_what_cannot_be_fetched_again(profile: Profile) -> None:
    use = asyncio.run(Disk(profile).free(in_session=False))
    assert [path.name for path in profile.cache.iterdir() if len(path.name) == 64] == [USED]
    assert (use.copies, use.record, use.logs, use.to_free) == (0, 7, 20, 0)
    assert profile.copies.is_dir()


def test_during_a_session_its_copy_stays(profile: Profile) -> None:
    use = asyncio.run(Disk(profile).free(in_session=True))
    assert (use.copies, use.to_free) == (300, 0)

"""The workflow for hosted runners: what it runs exists. It cannot run here."""

from pathlib import Path

import yaml  # type: ignore[import-untyped]

from installer.bundle.build import KINDS
from installer.cli import VERBS

ROOT = Path(__file__).resolve().parents[2]


def commands() -> list[list[str]]:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "packages.yml").read_text(encoding="utf-8"))
    return [step["run"].split() for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]


def test_the_verbs_of_the_installer_and_the_tests_that_it_names_exist() -> None:
    verbs = [words[words.index("installer") + 1 :] for words in commands() if "installer" in words]
    assert {verb for verb, *_ in verbs} == {"build", "setup"} <= VERBS.keys()
    assert {kind for verb, *kinds in verbs for kind in kinds} == set(KINDS)
    named = [word for words in commands() for word in words if word.startswith("tests/")]
    assert named
    assert all((ROOT / word).exists() for word in named)

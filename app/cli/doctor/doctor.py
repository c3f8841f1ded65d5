"""doctor: what was found on this computer, and what to do about it."""

import argparse
from collections.abc import Sequence

from app.cli.console import layout, output
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_verb
from app.cli.doctor.checks import Finding, examine
from app.cli.doctor.reachable import reachable
from app.cli.doctor.sensors import sensors
from app.text.i18n import N_, translate
from core.client.profile import Profile

TEXT = help_text("""
Check this computer: what Idlehive found, what is missing, and what to do.
It changes nothing. Exit code 1: a problem prevents contributing.

  idlehive doctor
  idlehive doctor --json      for a problem report; without secrets
""")

_MARKS = {"ok": (N_("ok"), "32"), "warn": (N_("warning"), "33"), "problem": (N_("problem"), "1;31")}
"""What is shown of a level, and the codes of its colour (ECMA-48)."""
_BETWEEN = 2
_NAMES = (
    N_("profile"), N_("packages"), N_("disk"), N_("engine"), N_("libraries"), N_("graphics"), N_("keyring"),
    N_("display"), N_("reachable"), N_("sensors"),
)  # fmt: skip
"""What is checked beside the sensors, whose names are in `app.text.wordings.reasons`; `--json` keeps these names."""


def add(verbs: Verbs) -> None:
    add_json(add_verb(verbs, "doctor", N_("check this computer"), TEXT, run))


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    findings = [*examine(profile), reachable(profile), *sensors(profile)]
    if arguments.json:
        output.print_json(findings)
    else:
        _print(findings)
    return 1 if any(finding.level == "problem" for finding in findings) else 0


def _print(findings: Sequence[Finding]) -> None:
    marks = [translate(_MARKS[finding.level][0]) for finding in findings]
    names = [translate(finding.name) for finding in findings]
    column, second = (max(map(layout.width, texts)) + _BETWEEN for texts in (marks, names))
    for finding, mark, name in zip(findings, marks, names, strict=True):
        first = f"{layout.padded(mark, column)}{layout.padded(name, second)}"
        lines = "\n".join(layout.hanging(first, f"{finding.text} {finding.advice}".strip(), output.columns()))
        print(output.styled(mark, _MARKS[finding.level][1]) + lines[len(mark) :])

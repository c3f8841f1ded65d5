"""doctor: what was found on this computer, and what to do about it."""

import argparse
from collections.abc import Sequence

from app.cli.console import output
from app.cli.console.parser import Verbs, add_json, add_verb
from app.cli.doctor.checks import Finding, examine
from app.cli.doctor.reachable import reachable
from app.cli.doctor.sensors import sensors
from core.client.profile import Profile

TEXT = """
Check this computer: what Idlehive found, what is missing, and what to do.
It changes nothing. Exit code 1: a problem prevents contributing.

  idlehive doctor
  idlehive doctor --json      for a problem report; without secrets
"""

_MARKS = {"ok": ("ok", "green"), "warn": ("warning", "yellow"), "problem": ("problem", "bold red")}


def add(verbs: Verbs) -> None:
    add_json(add_verb(verbs, "doctor", "check this computer", TEXT, run))


def run(arguments: argparse.Namespace, profile: Profile) -> int:
    findings = [*examine(profile), reachable(profile), *sensors(profile)]
    if arguments.json:
        output.print_json(findings)
    else:
        _print(findings)
    return 1 if any(finding.level == "problem" for finding in findings) else 0


def _print(findings: Sequence[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for finding in findings:
        mark, style = _MARKS[finding.level]
        text = f"{finding.text} {finding.advice}".strip()
        table.add_row(Text(mark, style=style), Text(finding.name), Text(text))
    output.print_lines(table)

"""`python -m core.conditions`: what the sensors of this machine say, as JSON, for `doctor` when no engine runs."""

import sys

import msgspec

from core.conditions.machine import this_machine
from core.conditions.programs import ProgramsSensor
from core.conditions.sleep.watch import announcer_here, probe


def main() -> int:
    machine = this_machine()
    machine.read()
    # Only the engine knows which programs the volunteer listed.
    shown = [sensor for sensor in machine.info() if sensor.name != ProgramsSensor.name]
    shown.append(probe(announcer_here()))
    sys.stdout.write(msgspec.json.encode(shown).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

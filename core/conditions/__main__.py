"""`python -m core.conditions`: what the sensors of this machine say, as JSON, for `doctor` when no engine runs."""

import sys

import msgspec

from core.conditions.machine import ThisMachine


def main() -> int:
    machine = ThisMachine()
    machine.read()
    sys.stdout.write(msgspec.json.encode(machine.info()).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

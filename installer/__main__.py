"""Entry point. This file must parse on every Python 3, so that an old Python prints a clear sentence."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the sentence is for those who run an older Python than the project's
    found = ".".join(str(part) for part in sys.version_info[:3])
    sys.exit("Idlehive needs Python 3.11 or newer; this is Python " + found + ". Install a newer one and run again.")

from installer.cli import main

sys.exit(main(sys.argv[1:]))

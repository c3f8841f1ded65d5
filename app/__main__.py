"""`python -m app` is the same as `idlehive`."""

import sys

from app.cli import main

sys.exit(main())

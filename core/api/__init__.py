"""The contract between the processes: values, messages and errors. Imports nothing else of core."""

import sys

if "typing_extensions" not in sys.modules:
    # msgspec asks it for what `typing` has by now; that loads inspect, ast and dis: a tenth of a short command.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    import msgspec  # noqa: F401

    del sys.modules["typing_extensions"]

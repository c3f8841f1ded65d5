"""Log files of bounded size in the profile: `engine.log`, and `trainer.log` and `host.log` with stderr of those."""

import logging
import logging.handlers
from pathlib import Path

SIZE = 1 << 20
"""Bytes of one file; two older ones are kept."""
KEPT = 2
_ENGINE_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def open_logs(folder: Path, size: int = SIZE) -> None:
    """Start logging. Lines that cannot be written are lost."""
    logging.raiseExceptions = False
    engine = _file(folder / "engine.log", _ENGINE_FORMAT, size)
    logging.basicConfig(level=logging.INFO, handlers=[engine], force=True)
    # APScheduler would log each alarm, and urllib3 addresses, which may be private.
    for chatty in ("apscheduler", "urllib3", "keyring"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    for child in ("trainer", "host"):
        logger = logging.getLogger(f"child.{child}")
        logger.handlers = [_file(folder / f"{child}.log", "%(message)s", size)]
        logger.propagate = False


def _file(path: Path, form: str, size: int) -> logging.Handler:
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=size, backupCount=KEPT, delay=True, encoding="utf-8")
    handler.setFormatter(logging.Formatter(form))
    return handler

"""Fills in the templates in this folder. In HTML all values are escaped."""

from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, select_autoescape

from core.api.identity import short


def fill_in(template: str, **values: Any) -> bytes:
    """The template with these values, in UTF-8."""
    return _ENVIRONMENT.get_template(template).render(values).encode()


def _moment(at: float, form: str) -> str:
    return datetime.fromtimestamp(at, UTC).strftime(form)


def _quoted(text: str) -> str:
    """For a label of Prometheus."""
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=select_autoescape(),
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_ENVIRONMENT.filters.update(short=short, moment=_moment, quoted=_quoted, base64=lambda data: b64encode(data).decode())

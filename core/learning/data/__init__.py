"""A project's data: download, cache with a size limit, and reading. Each kind of data has a file, listed here."""

from typing import Any

from core.api.project.manifest import Data, JsonLinesData, TextData
from core.learning.data.json_lines import JsonLinesSource
from core.learning.data.source import Source
from core.learning.data.text import TextSource

_SOURCES: dict[type, Any] = {TextData: TextSource, JsonLinesData: JsonLinesSource}


def source_for(declared: Data) -> Source:
    """The reader of the manifest's kind of data."""
    source: Source = _SOURCES[type(declared)](declared)
    return source

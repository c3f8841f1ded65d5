"""The published JSON Schema says what the reader does."""

import copy
import re
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # ships no annotations
import msgspec
import pytest

from core.api.project.manifest_reading import parse
from tests import manifest_schema
from tests.api.project.test_manifest import SAMPLE

DOCS = Path(__file__).parents[3] / "docs"


def test_the_schema_in_docs_is_the_one_of_the_classes(tmp_path: Path) -> None:
    manifest_schema.write(tmp_path / "made.json")
    published = (DOCS / "manifest.schema.json").read_text()
    assert published == (tmp_path / "made.json").read_text(), "stale: run python -m tests.manifest_schema"


def test_the_schema_takes_the_sample_and_refuses_its_mistakes() -> None:
    schema = msgspec.json.decode((DOCS / "manifest.schema.json").read_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(SAMPLE)
    wrong = copy.deepcopy(SAMPLE)
    wrong["training"]["target_batch_size"] = 0
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(wrong)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**SAMPLE, "colour": 1})


def test_the_example_in_docs_is_right() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", (DOCS / "manifest.md").read_text(), re.DOTALL)
    assert parse(example.encode(), "https://example.org/manifest.json").id == "shakespeare"


def test_docs_explain_every_field() -> None:
    text = (DOCS / "manifest.md").read_text()
    fields = {field for each in manifest_schema.schema()["$defs"].values() for field in each["properties"]}
    assert [field for field in sorted(fields) if not re.search(rf'[`."]{field}[`"]', text)] == []


def test_every_field_of_the_schema_is_described() -> None:
    definitions = manifest_schema.schema()["$defs"]
    silent = [
        f"{name}.{field}"
        for name, definition in definitions.items()
        for field, about in definition["properties"].items()
        if "description" not in about and "$ref" not in about and field != "type"
    ]
    assert silent == []

"""The manifest's JSON Schema, for editors and programs. `python -m tests.manifest_schema` writes it."""

import ast
import inspect
from pathlib import Path
from typing import Any

import msgspec

from core.api.project import data, fields, manifest, tasks

_DECLARED_IN = (manifest, tasks, data, fields)


def schema() -> dict[str, Any]:
    """The JSON Schema of a manifest, with the docstrings of the fields as their descriptions."""
    made = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(manifest.Manifest)).replace(rb"\\Z", b"$"))
    for name, definition in made["$defs"].items():
        struct = next(getattr(module, name) for module in _DECLARED_IN if hasattr(module, name))
        for declared in _declared_here(struct):
            for field, text in _field_docs(declared).items():
                # Not a constant of the class.
                if field in definition["properties"]:
                    definition["properties"][field]["description"] = text
    # Older manifests have no type here.
    made["$defs"]["TextData"]["required"].remove("type")
    heading = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Manifest of an Idlehive project"}
    return {**heading, **made}


def _declared_here(struct: type) -> list[type]:
    """The class and the bases that its fields come from, bases first."""
    return [
        base for base in reversed(struct.__mro__) if base.__module__ in {module.__name__ for module in _DECLARED_IN}
    ]


def _field_docs(struct: type) -> dict[str, str]:
    """Docstrings by field; Python does not keep them at run time."""
    definition = ast.parse(inspect.getsource(struct)).body[0]
    assert isinstance(definition, ast.ClassDef)
    pairs = zip(definition.body, definition.body[1:], strict=False)
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairs
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def write(path: Path) -> None:
    """Write the schema to `path`."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(schema()), indent=2) + b"\n")


if __name__ == "__main__":
    write(Path(__file__).parents[1] / "docs" / "manifest.schema.json")

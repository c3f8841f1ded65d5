"""The projects in `resources/projects`, with small files in the place of those that an organiser has to bring."""

import re
import shutil
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from core.host.project import Project, load

PROJECTS = Path(__file__).parents[2] / "resources" / "projects"
NAMES = sorted(path.parent.name for path in PROJECTS.glob("*/project.toml"))


def complete(name: str, folder: Path) -> Project:
    """The project, copied to `folder`, with a file for each name that has none; `*` in a name becomes 0."""
    shutil.copytree(PROJECTS.parent, folder / "resources", ignore=shutil.ignore_patterns("locale", "icons"))
    here = folder / "resources" / "projects" / name
    toml = here / "project.toml"
    for file in re.findall(r'"([^"\s]+\.(?:txt|jsonl|json|jsonl\.zst|tar|parquet))"', toml.read_text(encoding="utf-8")):
        path = here / file.replace("*", "0")
        path.parent.mkdir(exist_ok=True)
        if not list(here.glob(file)):
            if path.suffix == ".parquet":
                parquet.write_table(pa.table({"text": [path.name]}), path)
            elif path.suffix == ".zst":
                with pa.output_stream(path, compression="zstd") as packed:
                    packed.write(path.name.encode())
            else:
                path.write_text(f"{path.name}\n")
    return load(toml)

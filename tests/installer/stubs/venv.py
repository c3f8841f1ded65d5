"""Stands in for `python -m venv`: an environment whose python and uv only note what they are asked for."""

import shutil
import sys
from pathlib import Path

folder = Path(sys.argv[1])
(folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages").mkdir(parents=True)
(folder / "bin").mkdir()
script = (Path(__file__).parent / "program.py").read_text(encoding="utf-8")
(folder / "bin" / "python").write_text(f"#!{sys.executable}\n{script}", encoding="utf-8")
(folder / "bin" / "python").chmod(0o755)
shutil.copy(folder / "bin" / "python", folder / "bin" / "uv")

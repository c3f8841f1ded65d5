import ctypes
from pathlib import Path

import pytest

from tests.fakes.nvml.stand_in import Driver, build


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pretended driver's library, loaded: whoever asks for libnvidia-ml.so.1 from now on gets this one."""
    path = build(tmp_path_factory.mktemp("nvml"))
    ctypes.CDLL(str(path))
    return path


@pytest.fixture
def driver(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """A pretended NVIDIA driver in this process."""
    script = tmp_path / "gpus"
    monkeypatch.setenv("NVML_SCRIPT", str(script))
    return Driver(library, script)

"""Installs the project and its pinned packages: with uv if it exists for this machine, otherwise with pip."""

import os
import platform

from installer import pip_settings, torch_build
from installer.failure import CommandFailed, is_missing_package, is_network
from installer.progress import UvReader
from installer.torch_build import TorchBuild
from installer.work import Work

UV = "uv==0.13.8"


def install(work: Work) -> None:
    """Install the packages that pyproject.toml and the lock name. Raises CommandFailed."""
    settings = pip_settings.parse(work.programs.run([*_pip(work), "config", "list"]))
    build = _choose_torch(work, settings)
    variables = pip_settings.for_uv(settings, os.environ)
    try:
        _fetch_uv(work)
        _install_with_uv(work, build, variables)
    except CommandFailed as failed:
        if not is_missing_package(failed.output):
            raise
        work.progress.note("uv does not find all packages for this machine; trying pip, which takes longer.")
        work.programs.run([*_pip(work), "install", *_wanted(work, build)])


def _choose_torch(work: Work, settings: dict[str, str]) -> TorchBuild:
    version = work.checkout.torch_version
    folders = pip_settings.link_folders(settings)
    local_wheel = torch_build.find_local_wheel(version, folders, work.checkout.python_tag)
    return torch_build.choose(version, platform.system(), torch_build.has_nvidia_driver(), local_wheel)


def _fetch_uv(work: Work) -> None:
    installed = work.checkout.installed_version("uv")
    if installed != UV.removeprefix("uv=="):
        work.progress.stage(f"fetching {UV.replace('==', ' ')}", 0.06)
        work.programs.run([*_pip(work), "install", "--retries", "2", UV])


def _install_with_uv(work: Work, build: TorchBuild, variables: dict[str, str]) -> None:
    """Install the best build of torch, or the next one if it is not available."""
    try:
        _run_uv(work, build, variables)
    except CommandFailed as failed:
        fallback = torch_build.fallback(build)
        if not fallback or not (is_network(failed.output) or is_missing_package(failed.output)):
            raise
        work.progress.note(f"No {build.name} could be fetched; trying {fallback.name}.")
        _install_with_uv(work, fallback, variables)


def _run_uv(work: Work, build: TorchBuild, variables: dict[str, str]) -> None:
    work.progress.stage("finding packages", 0.1)
    # Without bytecode each process that imports torch compiles it first, for seven seconds; pip compiles by itself.
    command = [str(work.checkout.venv / "bin" / "uv"), "pip", "install", "--compile-bytecode"]
    command += ["--python", str(work.checkout.python)]
    if torch_build.must_replace(work.checkout.installed_version("torch"), build):
        command += ["--reinstall-package", "torch"]
    if build.backend and "UV_TORCH_BACKEND" not in os.environ:
        command += ["--torch-backend", build.backend]
    work.programs.run([*command, *_wanted(work, build)], variables, UvReader(work.progress, 0.1, 0.95))


def _wanted(work: Work, build: TorchBuild) -> list[str]:
    checks = work.checkout.development_requirements if "development" in work.parts else []
    return ["-c", str(work.checkout.constraints), "-e", str(work.checkout.root), build.requirement, *checks]


def _pip(work: Work) -> list[str]:
    return [str(work.checkout.python), "-m", "pip"]

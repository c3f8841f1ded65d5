"""The compute runtime in words."""

from app.text.formats import numbers
from app.text.i18n import N_, tr, translate
from app.text.messages import sentence
from core.api.installation.compute_runtime import ComputeRuntime

_STEPS = {
    "install_wsl": N_("Installing WSL: Windows asks for an administrator"),
    "import": N_("Setting up a Linux for Idlehive"),
    "convert": N_("Changing this Linux to WSL 2"),
    "unpack": N_("Copying Idlehive into it"),
    "preparing": N_("Preparing"),
    "downloading": N_("Downloading"),
    "compiling": N_("Compiling"),
    "testing": N_("Testing with one microbatch"),
}


def describe(runtime: ComputeRuntime) -> str:
    """What there is, what is being done, or what went wrong and what comes next."""
    if runtime.step:
        return progress(runtime)
    if runtime.failure:
        after = tr("Idlehive tries again by itself.") if runtime.retry_at is not None else ""
        return f"{sentence(runtime.failure)} {after}".rstrip()
    if runtime.ready:
        builds = {"cpu": tr("Installed, for the processor."), "cuda": tr("Installed, for NVIDIA's graphics cards.")}
        return f"{builds[runtime.build]} {_gpus(runtime)}".rstrip()
    if runtime.needs_consent:
        return tr("Training runs in Linux (WSL), which Idlehive sets up on this computer if you agree.")
    if runtime.removed:
        return tr("Not installed: you stopped the installation or removed them. Contributing needs them.")
    return tr("Not installed yet. Contributing needs them.")


def progress(runtime: ComputeRuntime) -> str:
    """The step with its bytes and the time left."""
    step = translate(_STEPS[runtime.step or "preparing"])
    if runtime.step != "downloading":
        return tr("{step}…", step=step)
    text = tr(
        "{step}: {done} of {total}", step=step, done=numbers.size(runtime.done), total=numbers.size(runtime.total)
    )
    if runtime.time_left is None:
        return f"{text}."
    return tr("{text}, {time} left.", text=text, time=numbers.duration(runtime.time_left))


def consent() -> tuple[str, str]:
    """What the volunteer agrees to, in a sentence, and its parts."""
    parts = (
        tr("If Windows lacks WSL, it is installed: Windows asks for an administrator and has to restart once."),
        tr("A Linux of its own, “Idlehive”, is added. Other Linux systems on this computer are not changed."),
        tr("The libraries for training are downloaded into it; they need up to 8 GB of disk space."),
        tr("“Remove” deletes this Linux with all that is in it; WSL itself stays."),
    )
    return tr("Training needs Linux. Windows runs it beside itself, with Microsoft's WSL 2."), "\n\n".join(parts)


def _gpus(runtime: ComputeRuntime) -> str:
    """Which cards reach WSL; empty elsewhere."""
    if runtime.gpus is None:
        return ""
    if not runtime.gpus:
        return tr("No graphics card reaches WSL; NVIDIA's driver for Windows lets its cards through.")
    return tr("Graphics cards in WSL: {names}.", names=", ".join(runtime.gpus))


def share(runtime: ComputeRuntime) -> float:
    """The part that is done, 0 to 1: the download, then two short steps."""
    if runtime.step == "downloading" and runtime.total:
        return 0.9 * runtime.done / runtime.total
    return {"compiling": 0.9, "testing": 0.95}.get(runtime.step or "", 1.0 if runtime.ready else 0.0)

"""The compute runtime in words."""

from app.text.formats import numbers
from app.text.i18n import N_, tr, translate
from app.text.messages import sentence
from core.api.installation.compute_runtime import ComputeRuntime

_STEPS = {
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
        after = tr("It is tried again by itself.") if runtime.retry_at is not None else ""
        return f"{sentence(runtime.failure)} {after}".rstrip()
    if runtime.ready:
        builds = {"cpu": tr("Installed, for the processor."), "cuda": tr("Installed, for NVIDIA's graphics cards.")}
        return builds[runtime.build]
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


def share(runtime: ComputeRuntime) -> float:
    """The part that is done, 0 to 1: the download, then two short steps."""
    if runtime.step == "downloading" and runtime.total:
        return 0.9 * runtime.done / runtime.total
    return {"compiling": 0.9, "testing": 0.95}.get(runtime.step or "", 1.0 if runtime.ready else 0.0)

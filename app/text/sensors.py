"""What sensors read from, in words. Names of programs, such as logind, are the same in every language. Pure."""

from app.text.i18n import N_, translate
from core.api.sensors import SensorInfo

SOURCES = {
    "X11 (active window)": N_("X11 (active window)"),
    "ScreenSaver service": N_("ScreenSaver service"),
    "NetworkManager (metered)": N_("NetworkManager (metered)"),
    "routes": N_("routes"),
    "no other way": N_("no other way"),
    "counters of the kernel": N_("counters of the kernel"),
    "list of processes": N_("list of processes"),
    "system": N_("the system itself"),
    "clocks": N_("clocks"),
    "nobody": N_("nobody"),
}


def source(name: str) -> str:
    return translate(SOURCES.get(name, name))


def in_use(sensor: SensorInfo) -> str:
    """The source in use, if one is; two where a sensor needs both."""
    return ", ".join(map(source, sensor.in_use))

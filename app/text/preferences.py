"""The name and meaning of each preference, its live value, and the value that applies now. Pure.

A preference without words here is shown by its plain name, and fails a test.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from app.text import messages
from app.text.formats import times
from app.text.i18n import N_, tr, translate
from app.text.typed import quantities, values
from core.api.message import Message
from core.api.preferences.commands import PreferenceInfo
from core.api.preferences.preferences import GENTLE, PREFERENCES, Values, one_gpu
from core.api.preferences.value_types import Number
from core.api.sensors import SensorInfo
from core.api.snapshot import Snapshot


class Words(NamedTuple):
    name: str
    meaning: str


_PAGES = {
    "processor": N_("Processor and memory"),
    "gpu": N_("Graphics card"),
    "network": N_("Network"),
    "presence": N_("Presence and power"),
    "storage": N_("Storage"),
    "privacy": N_("What others see"),
    "energy": N_("Electricity"),
    "schedule": N_("Schedule"),
}
_WORDS = {
    "threads": Words(N_("Processor threads"), N_("How many threads compute at the same time.")),
    "processor_share": Words(
        N_("Processor use"), N_("Share of the time in which these threads compute; they rest in between.")
    ),
    "memory_limit": Words(N_("Memory"), N_("The most memory that contributing may use.")),
    "gpu_use": Words(N_("Use the graphics card"), N_("Off: the processor computes.")),
    "gpu_share": Words(N_("Use"), N_("Share of the time in which the card computes; it rests in between.")),
    "gpu_temperature": Words(N_("Temperature"), N_("Above this temperature the card rests more.")),
    "gpu_power": Words(N_("Power"), N_("The most watts that the card may draw, on average.")),
    "gpu_memory": Words(N_("Graphics memory"), N_("The most of the card's memory that contributing may use.")),
    "gpu_power_limit": Words(
        N_("Let the driver limit the watts"), N_("Needs administrator rights; undone when contributing ends.")
    ),
    "upload_limit": Words(N_("Upload"), N_("Everything that Idlehive sends, in all its processes.")),
    "download_limit": Words(N_("Download"), N_("Everything that Idlehive fetches, in all its processes.")),
    "data_cap": Words(N_("Data a month"), N_("Up and down together; contributing stops when it is used up.")),
    "data_cap_day": Words(N_("A month starts on day"), N_("When your provider starts to count again.")),
    "network_from": Words(N_("Use the network from"), N_("The same time in both fields means all day.")),
    "network_until": Words(N_("Use the network until"), N_("The same time in both fields means all day.")),
    "metered": Words(N_("Use metered networks"), N_("Networks that the system marks as paid by volume.")),
    "listen_port": Words(
        N_("Port"),
        N_(
            "Others connect to this computer here, and it averages for those that cannot be reached;"
            " without a port it only connects to others."
        ),
    ),
    "port_mapping": Words(
        N_("Let the router open a port"),
        N_(
            "Only while contributing: others then reach this computer, and it averages for those that cannot be"
            " reached."
        ),
    ),
    "proxy": Words(
        N_("Proxy"),
        N_("For everything fetched by HTTP. Connections to other peers are direct and pass no proxy."),
    ),
    "proxy_address": Words(N_("Address of the proxy"), N_("With your user name if it asks for one.")),
    "proxy_password": Words(
        N_("Password of the proxy"), N_("Kept in the keyring of your system, or in a file that only you can read.")
    ),
    "idle_processor": Words(
        N_("Wait before using the processor"),
        N_("How long mouse and keyboard must have rested before the processor computes."),
    ),
    "idle_gpu": Words(
        N_("Wait before using the graphics card"),
        N_("How long mouse and keyboard must have rested before the card computes."),
    ),
    "busy_processor": Words(
        N_("Wait while others use the processor"),
        N_("From this share of the processor on, if other programs take it for ten seconds."),
    ),
    "full_screen": Words(
        N_("Contribute beside full-screen programs"),
        N_("Off: contributing waits while a game, a film or a presentation fills the screen."),
    ),
    "resume_at_start": Words(
        N_("Contribute after a start"),
        N_("Off: after Quit, or a restart of the computer, Idlehive waits until you press Contribute."),
    ),
    "programs": Words(
        N_("Programs to wait for"),
        N_("While one of these runs, nothing is contributed, whatever you do with mouse and keyboard."),
    ),
    "on_battery": Words(N_("Contribute on battery"), N_("Off: only while the computer is plugged in.")),
    "battery_level": Words(
        N_("Lowest battery charge"), N_("Below this, contributing stops also if it is allowed on battery.")
    ),
    "cache_size": Words(N_("Data kept on disk"), N_("Training data that need not be fetched again.")),
    "publish_contributions": Words(
        N_("Publish what I give"),
        N_("Signed figures for the project's public ranking and learning curve; off: none are sent."),
    ),
    "display_name": Words(
        N_("Your name"), N_("Shown beside your figures on the projects' pages; without one, only your key is.")
    ),
    "check_releases": Words(
        N_("Look for new versions"),
        N_(
            "Once a day, at the address that your package's publisher named; nothing about you or this computer is"
            " sent."
        ),
    ),
    "release_address": Words(
        N_("Address of new versions"), N_("Of another copy of the signed release file; empty: that of your package.")
    ),
    "energy_price": Words(N_("Price of a kWh"), N_("What you pay; the history then shows the cost.")),
    "currency": Words(N_("Currency"), N_("Of that price.")),
    "grid_factor": Words(N_("CO₂ of a kWh"), N_("Grams for each kWh; ask your provider or grid operator.")),
    "processor_power": Words(
        N_("Watts of the processor"),
        N_("At full load. If the processor has no energy counter, the history uses this for an estimate."),
    ),
    "week": Words(N_("Week"), N_("The hours in which this computer contributes.")),
}


def words(name: str) -> Words:
    """Of a preference by its plain or gentle name, or its name for one graphics card alone."""
    plain = name.removeprefix(GENTLE)
    if one := one_gpu(plain):
        general = words(one[1])
        return Words(tr("{name}, card {number}", name=general.name, number=one[0]), general.meaning)
    known = _WORDS.get(plain)
    return Words(*map(translate, known)) if known else Words(plain.replace("_", " ").capitalize(), "")


def page_name(page: str) -> str:
    """The heading of a group of preferences."""
    return translate(_PAGES.get(page, N_("Other")))


def page_order(page: str) -> int:
    pages = list(_PAGES)
    return pages.index(page) if page in pages else len(pages)


def short(info: PreferenceInfo, value: int) -> str:
    """A limit's value with what it is of, for a line of several: 30 % of the card."""
    amount = values.write(value, info.type)
    wordings = {
        "gpu_share": tr("{amount} of the card"),
        "upload_limit": tr("{amount} up"),
        "download_limit": tr("{amount} down"),
    }
    return wordings.get(info.name.removeprefix(GENTLE), "{amount}").format(amount=amount)


def situation(info: PreferenceInfo, snapshot: Snapshot) -> str:
    """The live value, and the value that applies if it is not the chosen one; empty if there is neither."""
    live = live_value(info.name, snapshot)
    if live is not None and isinstance(info.type, Number):
        now = _measured(info.name, quantities.write_live(live, info.type), snapshot)
    else:
        now = _seen(info.name, snapshot)
    return " · ".join(filter(None, [now, applies_now(info)]))


def _measured(name: str, live: str, snapshot: Snapshot) -> str:
    """A measured value, and of when it is if that is not now."""
    if name == "memory_limit" and snapshot.processor:
        return tr("{live} at {time}", live=live, time=times.second(snapshot.processor.memory_at))
    return tr("Now {live}", live=live)


def applies_now(info: PreferenceInfo) -> str:
    """The value that applies in place of the chosen one, and why; empty if the chosen one applies."""
    if info.why is None:
        return ""
    effective = values.write(info.effective, info.type)
    return tr("{value} applies now ({why})", value=effective, why=cause(info.why))


_OF_CARD = frozenset(name for name, declared in PREFERENCES.items() if declared.page == "gpu") | {"idle_gpu"}
_OF_BATTERY = frozenset({"on_battery", "battery_level"})


_MEASURED: Mapping[str, tuple[str, str]] = {
    "battery_level": ("surroundings", "battery_level"),
    "busy_processor": ("surroundings", "processor"),
    "data_cap": ("data_month", "used"),
    "upload_limit": ("traffic", "upload_rate"),
    "download_limit": ("traffic", "download_rate"),
    "processor_share": ("processor", "share"),
    "memory_limit": ("processor", "memory"),
    "gpu_share": ("gpu", "utilization"),
    "gpu_temperature": ("gpu", "temperature"),
    "gpu_power": ("gpu", "power"),
    "gpu_memory": ("gpu", "memory_used"),
}
"""What is measured of a limit: the field of the snapshot, and the figure in it."""
_NO_AMOUNT = frozenset({"on_battery", "metered", "gpu_use", "idle_gpu", "idle_processor"})
"""Of which `_seen` says something."""


def cause(why: Message) -> str:
    """Why another value applies than the one chosen."""
    limit = why.params.get("name")
    named = {"name": words(str(limit)).name} if limit else {}
    return messages.sentence(Message(why.kind, {**why.params, **named}))


def live_value(name: str, snapshot: Snapshot) -> float | None:
    """What is measured now of what a limit is about, in its unit; None: nothing is."""
    part, figure = _MEASURED.get(name.removeprefix(GENTLE), ("", ""))
    known = getattr(snapshot, part, None)
    if known is None or (part == "traffic" and snapshot.session is None):
        return None
    if snapshot.silence and part in {"traffic", "processor"}:
        return None
    measured: float | None = getattr(known, figure)
    return None if figure == "memory" and not measured else measured


def is_observed(name: str) -> bool:
    """Whether something can be said of what a preference is about, now or later."""
    return name.removeprefix(GENTLE) in _MEASURED or name in _NO_AMOUNT


def _seen(name: str, snapshot: Snapshot) -> str:
    """The live value of a preference that is no amount; says so if it is unknown."""
    around = snapshot.surroundings
    match name:
        case "on_battery":
            known = {None: tr("No battery is known"), True: tr("Now on battery"), False: tr("Now plugged in")}
            return known[around.on_battery]
        case "metered":
            known = {
                None: tr("Unknown whether metered"),
                True: tr("Now metered"),
                False: tr("Now not metered"),
            }
            return known[around.metered]
        case "gpu_use":
            return "" if snapshot.settings.gpu else tr("The processor computes now")
        case "idle_gpu" | "idle_processor" if around.last_input is None:
            return tr("Unknown on this computer")
        case _:
            return ""


def lacking(sensors: Iterable[SensorInfo]) -> frozenset[str]:
    """Plain names of preferences about what this computer is known not to have: a graphics card, a battery."""
    found = {sensor.name: sensor.value.kind for sensor in sensors}
    card = _OF_CARD if found.get("gpu") in {"gpu_missing", "driver_missing"} else frozenset()
    battery = _OF_BATTERY if found.get("power") == "battery_missing" else frozenset()
    return card | battery


def pointless(chosen: Values) -> frozenset[str]:
    """Plain names of preferences that have no effect beside the others' values: those of a proxy that is not used."""
    return frozenset() if chosen.get("proxy") == "own" else frozenset({"proxy_address", "proxy_password"})

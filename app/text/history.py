"""The history in words: comparisons, habits, milestones and why sessions ended. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from app.text import messages
from app.text.formats import numbers, times
from app.text.i18n import N_, tr, translate, trn
from app.text.wordings import WORDINGS
from app.text.wordings.reasons import REASONS
from core.api.message import Message
from core.api.record.record import JOULES_IN_KWH, Cost, Milestone, ProjectGiven, Sums

_PEOPLE = 8e9
"""On Earth, roughly (United Nations, World Population Prospects 2024: 8.2 thousand million)."""
_KWH_A_LITRE = 0.093
"""To heat a litre of water from 20 °C to 100 °C: 4.19 kJ for each degree."""
_CLEAR = 1.25
"""How much denser than on average contributions must be for a habit."""

ENDINGS = {
    "starting": N_("starting"),
    "joining": N_("looking for peers"),
    "syncing": N_("catching up"),
    "leaving": N_("leaving the peers"),
    "idle": N_("about to start"),
    "holding": N_("on hold"),
    "failed": N_("failed"),
    "done": N_("finished"),
    "engine_killed": N_("Idlehive was ended"),
    "exported_running": N_("exported while it ran"),
    "memory_over_limit": N_("memory limit reached"),
    "memory_over_half": N_("memory limit reached"),
    "memory_full": N_("too little memory"),
    "gpu_memory_full": N_("too little graphics memory"),
    "session_ended": N_("ended by itself"),
    "process_crashed": N_("crashed"),
    "process_killed": N_("ended from outside"),
    "peers_not_reached": N_("no peer reached"),
}
"""In few words, by state or kind of ending; the others are reasons and failures."""


def by_name(projects: Sequence[ProjectGiven]) -> dict[str, str]:
    """The id of each project by a name that no other of them has: with its id where two have the same name."""
    names = Counter(project.name for project in projects)
    return {
        project.name if names[project.name] == 1 else f"{project.name} ({project.project})": project.project
        for project in projects
    }


def energy_source(sums: Sums) -> str:
    """Where the figure comes from: counters, or an estimate."""
    card = (sums.joules or 0.0) - (sums.processor_joules or 0.0)
    measured = [
        name
        for name, joules in ((tr("graphics card"), card), (tr("processor"), sums.processor_joules or 0.0))
        if joules > 0
    ]
    if sums.energy is None:
        return tr("not measured on this computer")
    source = tr("measured: {names}", names=", ".join(measured)) if measured else ""
    if not sums.estimated_joules:
        return source
    share = numbers.percent(sums.estimated_joules / sums.energy) if sums.energy else ""
    return tr("{source}; {share} is an estimate", source=source, share=share) if source else tr("an estimate")


def cost(value: Cost) -> str:
    """Empty without figures of the volunteer's."""
    parts = [numbers.money(value.money, value.currency)] if value.money is not None else []
    if value.co2 is not None:
        amount, unit = (value.co2 / 1000, "kg") if value.co2 >= 1000 else (value.co2, "g")
        parts.append(numbers.with_unit(numbers.figure(amount), f"{unit} CO₂"))
    return " · ".join(parts)


def comparisons(sums: Sums) -> list[str]:
    """The figures in terms of everyday life, a sentence each."""
    sentences = []
    flops = sums.flops or 0.0
    seconds = flops / _PEOPLE
    if seconds >= 1:
        text = tr(
            "Your computer did {work}. Everyone on Earth together, at one calculation a second, would need {time}.",
            work=numbers.work(flops),
            time=long_time(seconds),
        )
        sentences.append(text)
    litres = (sums.energy or 0.0) / JOULES_IN_KWH / _KWH_A_LITRE
    if litres >= 0.5:
        sentences.append(tr("With that energy one could boil {litres} litres of water.", litres=numbers.figure(litres)))
    return sentences


def long_time(seconds: float) -> str:
    """Also years: 3 d 4 h, 2.4 years."""
    years = seconds / (365.25 * 86_400)
    return tr("{years} years", years=numbers.figure(years)) if years >= 2 else numbers.duration(seconds)


def hours(seconds: float) -> tuple[str, str]:
    """A figure and its unit, for a tile."""
    if seconds < 3600:
        return (numbers.figure(seconds / 60), tr("min")) if seconds >= 60 else (numbers.figure(round(seconds)), tr("s"))
    return numbers.figure(seconds / 3600), tr("h")


def habit(seconds: Sequence[float]) -> str:
    """The time of most contributions, from the 168 hours of the week; empty without any."""
    total = sum(seconds)
    if total <= 0:
        return ""
    parts = {
        tr("You give most at night."): _density(seconds, lambda _, hour: hour < 6 or hour >= 22, 8 / 24),
        tr("You give most in the morning."): _density(seconds, lambda _, hour: 6 <= hour < 12, 6 / 24),
        tr("You give most in the afternoon."): _density(seconds, lambda _, hour: 12 <= hour < 18, 6 / 24),
        tr("You give most in the evening."): _density(seconds, lambda _, hour: 18 <= hour < 22, 4 / 24),
        tr("You give most at weekends."): _density(seconds, lambda day, _: day >= 5, 2 / 7),
    }
    sentence, density = max(parts.items(), key=lambda item: item[1])
    return sentence if density >= _CLEAR else tr("You give equally at all hours.")


def _density(seconds: Sequence[float], is_in: Callable[[int, int], bool], fair: float) -> float:
    """The share of these hours, relative to their share if all hours were alike."""
    chosen = sum(value for place, value in enumerate(seconds) if is_in(place // 24, place % 24))
    return chosen / sum(seconds) / fair


def week_hour(place: int) -> str:
    """One of the 168 hours: Mon 14:00."""
    return f"{times.short_weekday(place // 24)} {times.time_of_day(place % 24, 0)}"


def milestone(value: Milestone) -> str:
    """Its round number: 1 000 hours."""
    amount = value.amount / 3600 if value.kind == "seconds" else value.amount
    number, is_first = numbers.count(amount), round(amount) == 1
    match value.kind:
        case "seconds":
            return tr("first hour") if is_first else tr("{n} hours", n=number)
        case "samples":
            return tr("{n} samples", n=number)
        case "epochs":
            return tr("first epoch") if is_first else tr("{n} epochs", n=number)


def coming(value: Milestone, now: float) -> str:
    """What comes next, and when."""
    name = milestone(value)
    days = max(1, round((value.at - now) / 86_400)) if value.at is not None else None
    if days is None or days > 365 * 20:
        return tr("Next: {name}", name=name)
    return tr("Next: {name}, in about {time}", name=name, time=trn("1 day", "{n} days", days, n=numbers.count(days)))


def reason(kind: str) -> str:
    """Why nothing was given, or why sessions ended, in few words."""
    return ending(Message(kind))


def ending(message: Message) -> str:
    """Why a session ended: a reason in few words, or the sentence of its failure."""
    if reason_words := REASONS.get(message.kind):
        return translate(reason_words.brief)
    known = ENDINGS.get(message.kind)
    return translate(known) if known else messages.sentence(message)


def ending_in_full(message: Message) -> str:
    """With its figures, where it has some."""
    return ending(message) if message.kind not in WORDINGS else messages.sentence(message)


def main_reason(idle: Mapping[str, float]) -> str:
    """The reason with the most time, as a sentence."""
    if not idle:
        return tr("Nothing prevented contributing.")
    name, seconds = max(idle.items(), key=lambda item: item[1])
    return tr("Most often: {reason} ({time}).", reason=reason(name), time=numbers.duration(seconds))

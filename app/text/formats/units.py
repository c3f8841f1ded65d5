"""Units whose names belong to the language: French counts memory in Mo, Chinese time in 小时. Others are the SI's."""

from app.text.i18n import N_, translate

_NAMES = (
    N_("s"), N_("min"), N_("h"), N_("d"),
    N_("B"), N_("kB"), N_("MB"), N_("GB"), N_("TB"), N_("PB"),
    N_("MiB"), N_("GiB"), N_("TiB"), N_("PiB"),
)  # fmt: skip


def in_english(name: str) -> str:
    """The unit of this name in the language in use, for reading what people type. Other names stay as they are."""
    return {translate(unit).lower(): unit for unit in _NAMES}.get(name.lower(), name)

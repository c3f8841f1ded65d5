"""Every text of the app is in every language, with the same fields in it; `python -m tests.translations` helps."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from babel import Locale
from msgspec.structs import replace
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.desktop import language
from app.limits.page import LimitsPage
from app.link.engine_link import EngineLink
from app.text import i18n
from app.text.formats import numbers, region, times
from app.text.formats.sentences import closed
from app.text.i18n import tr, trn
from app.text.messages import sentence
from app.text.typed import values
from app.text.wordings.reasons import REASONS
from app.window.main_window import MainWindow
from app.window.tray import Tray
from core.api.message import Message
from core.api.preferences.preferences import PREFERENCES, Preference
from core.api.preferences.value_types import Choice, Number, Switch, Type, Value, Week
from core.api.snapshot import CatchUp, Transfer
from tests import translations
from tests.app.full_engine import settle
from tests.app.page_checks import SMALLEST, cut_off
from tests.app.snapshots import CONTRIBUTING
from tests.app.spaces import SPACE
from tests.fakes.scripted_engine import ScriptedEngine
from tests.translations import TRANSLATED, forms, unfinished

CATCHING_UP = replace(
    CONTRIBUTING, state="syncing", catching_up=CatchUp(1012, 1015), transfer=Transfer(12_000_000, 47_000_000)
)
FIELD = re.compile(r"\{(\w+(?::\w+)?)\}")
"""A field, with the way it is written: `{free:size}`."""


@pytest.fixture(autouse=True)
def english_again(qapp: QApplication) -> Iterator[None]:
    yield
    language.apply(qapp, "en")
    QLocale.setDefault(QLocale.c())
    region.use(language.region_of(QLocale.c()))


@pytest.mark.parametrize("code", TRANSLATED)
def test_no_text_lacks_a_translation_and_no_translation_its_text(code: str) -> None:
    wanted = {text.message for text in translations.texts()}
    catalogue = translations.catalogue(code)
    known = {message.id for message in catalogue if message.id}
    assert wanted - known == set(), "to translate; see tests/translations.py"
    assert known - wanted == set(), "no longer said"
    assert unfinished(catalogue) == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_translation_has_the_fields_of_its_text(code: str) -> None:
    wrong = []
    for message in translations.catalogue(code):
        offered = set().union(*(FIELD.findall(text) for text in forms(message.id)))
        for translated in forms(message.string):
            used = set(FIELD.findall(translated))
            # One of a thing may do without its number.
            if message.id and (not used <= offered or (not isinstance(message.id, tuple) and used != offered)):
                wrong.append((message.id, translated))
    assert wrong == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_number_has_the_plural_form_of_its_kind(code: str) -> None:
    """The kinds are CLDR's, which Babel carries: in French 0 and 1 are of one kind."""
    i18n.use(code)
    for message in translations.catalogue(code):
        if isinstance(message.id, tuple):
            one, many = message.id
            kinds: dict[str, set[str]] = {}
            for count in range(200):
                kinds.setdefault(Locale.parse(code).plural_form(count), set()).add(trn(one, many, count))
            assert [len(each) for each in kinds.values()] == [1] * len(kinds), message.id
            assert set().union(*kinds.values()) == set(forms(message.string)), message.id


NETWORK = Message("network", {"reach": Message("online"), "cost": Message("network_not_metered")})
IN_GERMAN = {
    "Online; das Netzwerk ist nicht getaktet.": NETWORK,
    "Es braucht 8,0 GB Arbeitsspeicher; dieser Computer hat 23,4 GB.": Message(
        "needs_memory", {"needed": 8_000_000_000, "present": 23_400_000_000}
    ),
    "10.0.0.7 leitet im Kreis weiter.": Message("redirect_loop", {"address": "10.0.0.7"}),
}


@pytest.mark.parametrize("german", IN_GERMAN)
def test_a_message_is_worded_in_the_language_with_its_numbers_and_units(qapp: QApplication, german: str) -> None:
    language.apply(qapp, "de")
    assert sentence(IN_GERMAN[german]).replace(SPACE, " ") == german


@pytest.mark.parametrize("code", TRANSLATED)
def test_what_is_compiled_is_what_was_written(code: str) -> None:
    i18n.use(code)
    for message in translations.catalogue(code):
        if isinstance(message.id, str) and message.id:
            assert tr(message.id) == message.string
        elif message.id:
            one, many = message.id
            assert {trn(one, many, count) for count in range(200)} == set(forms(message.string))


def test_a_language_that_nobody_has_translated_is_english() -> None:
    with pytest.raises(FileNotFoundError):
        i18n.use("tlh")
    assert tr("Quit") == "Quit"


def test_numbers_times_and_dates_are_written_the_language_s_way(qapp: QApplication, london: None) -> None:
    language.apply(qapp, "de")
    assert numbers.size(3_400_000) == "3,4\N{NO-BREAK SPACE}MB"
    assert numbers.figure(7.25) == "7,2"
    assert times.day(0) == "1. Januar 1970"
    assert trn("1 thread", "{amount} threads", 1, amount=1) == "1 Thread"
    assert trn("1 thread", "{amount} threads", 4, amount=4) == "4 Threads"
    now = datetime(2025, 6, 16, 11, tzinfo=UTC).timestamp()  # a Monday, noon in London
    assert times.clock(now + 3600, now) == "13:00"
    assert times.clock(now + 86400, now) == "morgen 12:00"
    assert times.clock(now + 2 * 86400, now) == "Mi. 12:00"
    assert times.clock(now + 10 * 86400, now) == "26. Juni 12:00"


def test_the_region_of_the_system_counts_where_it_speaks_the_language() -> None:
    austria, britain = QLocale("de_AT"), QLocale("en_GB")
    assert language.locale_for("de", austria) == austria
    assert language.locale_for("en", britain) == britain
    assert language.locale_for("en", QLocale.c()) == QLocale.c()
    assert language.locale_for("de", QLocale.c()).language() is QLocale.Language.German


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (["de-AT", "en-GB"], "de"),
        (["tlh", "de"], "de"),
        (["pt-PT"], "pt_BR"),
        (["es-MX"], "es"),
        (["zh"], "zh_CN"),
        (["zh-Hans-SG"], "zh_CN"),
        (["zh-Hant-TW", "zh-TW"], "en"),
        (["bn-IN"], "bn"),
        (["C"], "en"),
        ([], "en"),
    ],
)
def test_the_first_of_the_person_s_languages_that_is_translated_is_used(wanted: list[str], code: str) -> None:
    assert language.negotiate(wanted) == code


IN_LANGUAGES = {
    "de": ("3,4 MB", "3 h 5 min", "2 d 4 h", "9 %", "14. März 2026", "14. März 2026, 21:07", "12,40 EUR"),
    "fr": ("3,4 Mo", "3 h 5 min", "2 j 4 h", "9 %", "14 mars 2026", "14 mars 2026 à 21:07", "12,40 EUR"),
    "es": ("3,4 MB", "3 h 5 min", "2 d 4 h", "9 %", "14 de marzo de 2026", "14 de mar de 2026, 21:07", "12,40 EUR"),
    "pt_BR": ("3,4 MB", "3 h 5 min", "2 d 4 h", "9%", "14 de março de 2026", "14 de mar. de 2026, 21:07", "EUR 12,40"),
    "zh_CN": ("3.4 MB", "3 小时 5 分钟", "2 天 4 小时", "9%", "2026年3月14日", "2026年3月14日 21:07", "EUR 12.40"),
    "bn": ("3.4 MB", "3 ঘণ্টা 5 মিনিট", "2 দিন 4 ঘণ্টা", "9%", "14 মার্চ 2026", "14 মার্চ 2026, 9:07 PM", "12.40 EUR"),
}
"""Each in the language's own country."""
TYPED = [preference for preference in PREFERENCES.values() if not isinstance(preference.type, Week)]
"""A week is painted."""
THEN, LATER = datetime(2026, 3, 14, 21, 7, tzinfo=UTC).timestamp(), datetime(2027, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("code", IN_LANGUAGES)
def test_units_percents_dates_and_money_are_the_language_s(qapp: QApplication, london: None, code: str) -> None:
    language.apply(qapp, code)
    region.use(language.region_of(QLocale("es_ES" if code == "es" else code)))
    found = (
        numbers.size(3_400_000),
        numbers.duration(3 * 3600 + 300),
        numbers.duration(2 * 86_400 + 4 * 3600),
        numbers.percent(0.09),
        times.day(THEN),
        times.moment(THEN, LATER),
        numbers.money(12.4, "EUR"),
    )
    assert tuple(text.replace(SPACE, " ") for text in found) == IN_LANGUAGES[code]


@pytest.mark.parametrize("code", TRANSLATED)
@pytest.mark.parametrize("preference", TYPED, ids=lambda preference: preference.name)
def test_every_value_reads_back_as_the_language_writes_it(
    qapp: QApplication, code: str, preference: Preference
) -> None:
    language.apply(qapp, code)
    kind = preference.type
    for value in (preference.default, *others(kind)):
        assert values.parse(values.write(value, kind), kind) == value


def others(kind: Type) -> tuple[Value, ...]:
    match kind:
        case Number():
            return kind.smallest, kind.highest, kind.highest // 2
        case Switch():
            return True, False
        case Choice():
            return tuple(kind.options)
        case _:
            return ()


@pytest.mark.parametrize("code", ["es_US", "es_MX", "en_US"])
def test_hours_of_halves_of_the_day_read_back_in_their_spellings(code: str) -> None:
    region.use(language.region_of(QLocale(code)))
    kind = PREFERENCES["network_from"].type
    assert values.parse(values.write(22 * 60 + 30, kind), kind) == 22 * 60 + 30


def test_qt_s_own_texts_are_translated_where_qt_has_no_translation(qapp: QApplication, qtbot: QtBot) -> None:
    field = QLineEdit("text")
    qtbot.addWidget(field)
    language.apply(qapp, "bn")
    texts = [action.text().partition("\t")[0] for action in field.createStandardContextMenu().actions()]
    assert {tr("Undo"), tr("Copy"), tr("Select All")} <= set(texts)
    assert "Copy" not in "".join(texts)


@pytest.mark.parametrize("code", TRANSLATED)
def test_sentences_end_once(qapp: QApplication, code: str) -> None:
    language.apply(qapp, code)
    for words in REASONS.values():
        sentence = closed(tr(words.sentence))
        assert not re.search(r"[.。।]{2}$", sentence), sentence
        assert re.search(r"[.。।]$", sentence), sentence


def test_every_page_speaks_another_language_at_once(
    window: MainWindow, link: EngineLink, qapp: QApplication, qtbot: QtBot
) -> None:
    tray = Tray(link, lambda _: None)
    pages = range(len(window._pages))
    for number in pages:
        window.open_page(number)
    english = shown_texts(window)
    language.apply(qapp, "de")
    window.retranslate()
    tray.retranslate()
    for number in pages:
        window.open_page(number)
    qtbot.wait(50)
    known = {message.id for message in translations.catalogue("de") if isinstance(message.id, str)}
    left = shown_texts(window) & english & known
    assert {text for text in left - {""} if tr(text) != text} == set()
    assert tray.open.text() == "Idlehive öffnen"
    tray.icon.hide()
    tray.deleteLater()


def test_the_open_page_and_what_is_on_it_survive_another_language(
    window: MainWindow, engine: ScriptedEngine, link: EngineLink, qapp: QApplication, qtbot: QtBot
) -> None:
    engine.show(CONTRIBUTING)
    qtbot.waitUntil(lambda: link.snapshot == CONTRIBUTING)
    window.open_named("limits")
    language.apply(qapp, "de")
    window.retranslate()
    assert isinstance(window._stack.currentWidget(), LimitsPage)
    assert window._stack.currentWidget() is window.page(3)
    window.open_named("home")
    qtbot.waitUntil(lambda: "Macht mit" in shown_texts(window))
    assert "Birdsong" in shown_texts(window)


def test_what_is_said_of_a_gone_engine_follows_the_language(
    window: MainWindow, engine: ScriptedEngine, link: EngineLink, qapp: QApplication, qtbot: QtBot
) -> None:
    engine.stop()
    qtbot.waitUntil(lambda: "The engine has ended." in shown_texts(window))
    language.apply(qapp, "de")
    window.retranslate()
    assert window._notice.label.text() == "Der Dienst ist beendet."


@pytest.mark.parametrize("code", TRANSLATED)
def test_catching_up_fits_into_the_smallest_window(
    code: str, window: MainWindow, engine: ScriptedEngine, qapp: QApplication, qtbot: QtBot
) -> None:
    engine.show(CATCHING_UP)
    qtbot.waitUntil(lambda: window._link.snapshot == CATCHING_UP)
    language.apply(qapp, code)
    window.retranslate()
    window.resize(SMALLEST)
    window.open_named("home")
    settle(window)
    assert cut_off(window.page(0)) == []


def shown_texts(window: QWidget) -> set[str]:
    """All that labels and buttons say, on pages that are not in front too."""
    labels = {label.text() for label in window.findChildren(QLabel)}
    return labels | {button.text() for button in window.findChildren(QPushButton)}

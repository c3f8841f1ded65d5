"""Every text of the app is in every language, with the same fields in it; `python -m tests.translations` helps."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.desktop import language
from app.limits.page import LimitsPage
from app.link.engine_link import EngineLink
from app.text import i18n
from app.text.formats import numbers, times
from app.text.i18n import tr, trn
from app.text.messages import sentence
from app.window.main_window import MainWindow
from app.window.tray import Tray
from core.api.message import Message
from core.api.snapshot import CatchUp, Transfer
from tests import translations
from tests.app.full_engine import settle
from tests.app.page_checks import SMALLEST, cut_off
from tests.app.snapshots import CONTRIBUTING
from tests.app.spaces import SPACE
from tests.fakes.scripted_engine import ScriptedEngine
from tests.translations import TRANSLATED, forms

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


@pytest.mark.parametrize("code", TRANSLATED)
def test_no_text_lacks_a_translation_and_no_translation_its_text(code: str) -> None:
    wanted = {text.message for text in translations.texts()}
    known = {message.id: forms(message.string) for message in translations.catalogue(code) if message.id}
    assert wanted - known.keys() == set(), "to translate; see tests/translations.py"
    assert known.keys() - wanted == set(), "no longer said"
    assert [text for text, each in known.items() if not all(each)] == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_translation_has_the_fields_of_its_text(code: str) -> None:
    wrong = []
    for message in translations.catalogue(code):
        texts_in_english = (message.id,) if isinstance(message.id, str) else tuple(message.id)
        offered = set().union(*(FIELD.findall(text) for text in texts_in_english))
        for english, german in zip((texts_in_english * 2)[:2], (forms(message.string) * 2)[:2], strict=True):
            used = set(FIELD.findall(german))
            if message.id and (not used <= offered or (isinstance(message.id, str) and used != offered)):
                wrong.append((english, german))
    assert wrong == []


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
            assert (trn(one, many, 1), trn(one, many, 5)) == forms(message.string)


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


def test_catching_up_fits_into_the_smallest_german_window(
    window: MainWindow, engine: ScriptedEngine, link: EngineLink, qapp: QApplication, qtbot: QtBot
) -> None:
    engine.show(CATCHING_UP)
    qtbot.waitUntil(lambda: link.snapshot == CATCHING_UP)
    language.apply(qapp, "de")
    window.retranslate()
    window.resize(SMALLEST)
    window.open_named("home")
    settle(window)
    assert cut_off(window.page(0)) == []


def shown_texts(window: QWidget) -> set[str]:
    """All that labels and buttons say, on pages that are not in front too."""
    labels = {label.text() for label in window.findChildren(QLabel)}
    return labels | {button.text() for button in window.findChildren(QPushButton)}

"""Every text of the app is in every language, with the same fields in it; `python -m tests.translations` helps."""

import re

import pytest
from babel import Locale
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.desktop import language
from app.limits.page import LimitsPage
from app.link.engine_link import EngineLink
from app.text import i18n
from app.text.formats.sentences import closed
from app.text.i18n import tr, trn
from app.text.messages import sentence
from app.text.wordings.reasons import REASONS
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
from tests.translations import TRANSLATED, forms, unfinished

pytestmark = pytest.mark.usefixtures("english_again")
CATCHING_UP = replace(
    CONTRIBUTING, state="syncing", catching_up=CatchUp(1012, 1015), transfer=Transfer(12_000_000, 47_000_000)
)
FIELD = re.compile(r"\{(\w+(?::\w+)?)\}")
"""A field, with the way it is written: `{free:size}`."""
COUNTED = re.compile(r"\{[\w:]+\} (\w+s)\b")
"""A noun after a field."""
ALWAYS_MANY = {
    *("{n} hours", "{n} samples", "{n} epochs"),  # milestones, of which the first has words of its own
    "{count} samples from all peers make one epoch",
    "{speed} samples/s, {up} up, {down} down",  # decimals
}
"""Texts whose number is never one."""


@pytest.mark.parametrize("code", TRANSLATED)
def test_no_text_lacks_a_translation_and_no_translation_its_text(code: str) -> None:
    wanted = {text.message for text in translations.texts()}
    catalogue = translations.catalogue(code)
    known = {message.id for message in catalogue if message.id}
    assert wanted - known == set(), "to translate; see tests/translations.py"
    assert known - wanted == set(), "no longer said"
    assert unfinished(catalogue) == []


def test_a_number_beside_its_noun_has_plural_forms() -> None:
    """Nouns are those that other texts count."""
    messages = [text.message for text in translations.texts()]
    nouns = {word for each in messages if isinstance(each, tuple) for word in COUNTED.findall(each[1])}
    assert {"samples", "epochs", "hours", "days"} <= nouns
    fixed = {each for each in messages if isinstance(each, str) and nouns & set(COUNTED.findall(each))}
    assert fixed == ALWAYS_MANY


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


@pytest.mark.parametrize("code", TRANSLATED)
def test_a_form_that_stands_for_0_too_has_its_number(code: str) -> None:
    """In French 0 and 1 share a form: with a literal 1 in it, nothing would be called one sample."""
    rule = Locale.parse(code).plural_form
    plurals = [each for each in translations.catalogue(code) if isinstance(each.id, tuple)]
    if rule(0) == rule(1):
        wrong = [
            (each.id, form)
            for each in plurals
            for form in forms(each.string)
            if set(FIELD.findall(form)) < set(FIELD.findall(each.id[1])) and each.id[0] not in NEVER_0
        ]
        assert wrong == []


NEVER_0 = {"You are the only one filling this batch so far."}
"""Texts whose count is at least 1."""
NETWORK = Message("network", {"reach": Message("online"), "cost": Message("network_not_metered")})
IN_GERMAN = {
    "Online; das Netzwerk ist nicht getaktet.": NETWORK,
    "Es braucht 8,0 GB Arbeitsspeicher; dieser Computer hat 23,4 GB.": Message(
        "needs_memory", {"needed": 8_000_000_000, "present": 23_400_000_000}
    ),
    "10.0.0.7 leitet im Kreis weiter.": Message("redirect_loop", {"address": "10.0.0.7"}),
}


@pytest.mark.parametrize(
    ("code", "foreign"),
    [
        ("de", r"Backbone|Peers|Samples|schonend|[Aa]nruf"),
        ("fr", r"[Aa]ppel(er|s)\b"),
        ("es", r"[Ll]lama(r|das)\b"),
        ("pt_BR", r"[Cc]hama(r|das)\b"),
    ],
)
def test_one_thing_has_one_word_and_a_connection_is_no_telephone_call(code: str, foreign: str) -> None:
    found = [text for each in translations.catalogue(code) for text in forms(each.string) if re.search(foreign, text)]
    assert found == []


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

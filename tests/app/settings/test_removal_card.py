"""Removing everything from the settings page: it says what has happened, also when nothing has."""

import sys

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.link.engine_link import EngineLink
from app.settings import removal_card
from app.settings.removal_card import RemovalCard
from core.client.profile import Profile


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ([sys.executable, "-c", "print('Deleted /a')"], ("Everything is removed", "Deleted /a")),
        (
            [sys.executable, "-c", "import sys; sys.exit('idlehive: No.')"],
            ("Not everything is removed", "idlehive: No."),
        ),
        ([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], ("Not everything is removed", "")),
        (["/nowhere/python"], ("Nothing is removed", "No such file")),
    ],
)
def test_the_end_is_told_as_it_was(
    qtbot: QtBot,
    profile: Profile,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    shown: tuple[str, str],
) -> None:
    title, details = shown
    ended: list[int] = []
    monkeypatch.setattr(removal_card, "core_command", lambda *_: command)
    monkeypatch.setattr(QCoreApplication, "exit", ended.append)
    card = RemovalCard(EngineLink(profile))
    qtbot.addWidget(card)
    card._begin()
    qtbot.waitUntil(lambda: card.box is not None, timeout=20_000)
    assert card.box is not None
    assert card.box.windowTitle() == title
    assert card.box.text() == f"{title}. Idlehive ends now."
    assert details in card.box.informativeText()
    card.box.accept()
    assert ended == [0]

"""The buttons for the libraries for training, and their card on the settings page."""

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.link.engine_link import EngineLink
from app.settings import runtime_card
from app.settings.runtime_card import RuntimeCard
from app.widgets.compute_runtime import RuntimeView
from app.widgets.dialog import MessageDialog
from core.api.installation.compute_runtime import ComputeRuntime, InstallRuntime, RemoveRuntime
from core.api.message import Message
from core.client.installation import Package
from core.client.profile import Profile


def test_stop_ends_the_installation_and_remove_what_is_installed(qtbot: QtBot) -> None:
    sent: list[Any] = []
    view = RuntimeView(sent.append)
    qtbot.addWidget(view)
    view.show_runtime(ComputeRuntime(ready=True, step="downloading"))
    assert (view.remove.text(), view.remove.accessibleName()) == ("Stop", "Stop")
    view.remove.click()
    view.show_runtime(ComputeRuntime(ready=True))
    assert (view.remove.text(), view.remove.accessibleName()) == ("Remove", "Remove")
    view.remove.click()
    view.repair.click()
    assert sent == [RemoveRuntime(only_stop=True), RemoveRuntime(), InstallRuntime(repair=True)]


@pytest.mark.parametrize(("answer", "sent"), [("Set up", [InstallRuntime(agreed=True)]), ("Not now", [])])
def test_wsl_is_set_up_only_after_consent(qtbot: QtBot, answer: str, sent: list[Any]) -> None:
    performed: list[Any] = []
    view = RuntimeView(performed.append)
    qtbot.addWidget(view)
    view.show_runtime(ComputeRuntime(needs_consent=True))
    assert view.install.text() == "Set up…"
    view.install.click()
    box = view.findChild(MessageDialog)
    assert box is not None
    assert "Other Linux systems on this computer are not changed." in box.informativeText()
    assert performed == []
    with qtbot.waitSignal(box.finished):
        next(button for button in box.buttons() if button.text() == answer).click()
    assert performed == sent


def test_a_failed_set_up_says_why_and_can_be_tried_again(qtbot: QtBot) -> None:
    view = RuntimeView(lambda _: None)
    qtbot.addWidget(view)
    view.show_runtime(ComputeRuntime(step="install_wsl"))
    assert view.text.text() == "Installing WSL: Windows asks for an administrator…"
    view.show_runtime(ComputeRuntime(failure=Message("wsl_restart")))
    assert (view.text.text(), view.install.text()) == (
        "WSL is installed. Restart Windows, then try again: the rest follows.",
        "Try again",
    )


@pytest.mark.parametrize("package", [Package("deb"), None])
def test_the_card_is_no_window_before_it_is_on_its_page(
    qtbot: QtBot, profile: Profile, monkeypatch: pytest.MonkeyPatch, package: Package | None
) -> None:
    monkeypatch.setattr(runtime_card, "package", lambda: package)
    card = RuntimeCard(EngineLink(profile))
    qtbot.addWidget(card)
    assert not card.isVisible()

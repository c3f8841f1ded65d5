"""The buttons for the libraries for training, and their card on the settings page."""

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.link.engine_link import EngineLink
from app.settings import runtime_card
from app.settings.runtime_card import RuntimeCard
from app.widgets.compute_runtime import RuntimeView
from core.api.installation.compute_runtime import ComputeRuntime, InstallRuntime, RemoveRuntime
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


@pytest.mark.parametrize("package", [Package("deb"), None])
def test_the_card_is_no_window_before_it_is_on_its_page(
    qtbot: QtBot, profile: Profile, monkeypatch: pytest.MonkeyPatch, package: Package | None
) -> None:
    monkeypatch.setattr(runtime_card, "package", lambda: package)
    card = RuntimeCard(EngineLink(profile))
    qtbot.addWidget(card)
    assert not card.isVisible()

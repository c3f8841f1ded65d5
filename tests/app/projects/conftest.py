"""The projects page in a window, against a scripted engine."""

import pytest
from pytestqt.qtbot import QtBot

from app.projects.page import ProjectsPage
from app.window.main_window import MainWindow
from core.api.project.projects import ListProjects, ShowProject
from tests.app.projects.listed import BIRDS, DETAILS, PRACTICE
from tests.fakes.scripted_engine import ScriptedEngine


@pytest.fixture
def page(window: MainWindow, engine: ScriptedEngine, qtbot: QtBot) -> ProjectsPage:
    """Opened, with two projects in the list."""
    engine.answer(ListProjects, [PRACTICE, BIRDS])
    engine.answer(ShowProject, DETAILS)
    window.open_page(1)
    opened = window.page(1)
    assert isinstance(opened, ProjectsPage)
    qtbot.waitUntil(lambda: opened.card("birds") is not None)
    return opened

"""The home page of a window."""

import pytest

from app.home.page import HomePage
from app.window.main_window import MainWindow


@pytest.fixture
def page(window: MainWindow) -> HomePage:
    return window.home

"""Parts of the limits page, and what stands on them."""

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtWidgets import QWidget

from app.limits.editor import ChoiceEditor, NumberEditor, SecretEditor, SwitchEditor, TextEditor
from app.limits.page import LimitsPage
from app.limits.programs_editor import ProgramsEditor
from app.limits.row import PreferenceLine
from app.widgets.basic import Label
from core.api.snapshot import Snapshot
from tests.app.spaces import SPACE

Show = Callable[[Snapshot], None]
Editor = TypeVar("Editor", NumberEditor, SwitchEditor, ChoiceEditor, TextEditor, SecretEditor, ProgramsEditor)


def line(page: LimitsPage, name: str) -> PreferenceLine:
    return page.rows[name.removeprefix("gentle.")].lines[name]


def editor(page: LimitsPage, name: str, kind: type[Editor]) -> Editor:
    found = line(page, name).editor
    assert isinstance(found, kind)
    return found


def shown(page: LimitsPage, name: str) -> str:
    return editor(page, name, NumberEditor).entry.text().replace(SPACE, " ")


def texts(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(Label) if label.isVisible()).replace(SPACE, " ")

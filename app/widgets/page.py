"""A page of the window: one column that scrolls, with narrower margins where there is little room."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.widgets import layouts, theme

_ROOMY_WIDTH = 720


class Page(QScrollArea):
    """Content goes into `column`."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.content = QWidget()
        self.column = layouts.column(spacing=theme.GAP, of=self.content)
        self.setWidget(self.content)

    def fill(self, *parts: layouts.Part) -> None:
        layouts.add(self.column, *parts)

    def arrange(self, roomy: bool) -> None:
        """Lay out again for a wide or narrow page."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        roomy = self.viewport().width() >= theme.scaled(_ROOMY_WIDTH)
        margin = theme.PAGE_MARGIN if roomy else theme.PAGE_MARGIN_NARROW
        self.column.setContentsMargins(margin, theme.UNIT * 5, margin, theme.UNIT * 5)
        self.arrange(roomy)

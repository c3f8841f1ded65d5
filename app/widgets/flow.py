"""A row that continues on the next line where the words of a language need more room than there is."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QStyle, QWidget, QWidgetItem


class FlowLayout(QLayout):
    """Widgets side by side at their size hints, from the side where the language begins."""

    def __init__(self, *widgets: QWidget, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        for widget in widgets:
            self.add(widget)

    def add(self, widget: QWidget) -> None:
        """Instead of `addWidget`: PySide gives up its hold on items made by Qt before the layout has ended, which may
        still be asked for its height then. Those made here last as long as the layout.
        """
        self.addChildWidget(widget)
        self.addItem(QWidgetItem(widget))

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 — Qt's own name, as the next ones
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items[index] if index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items.pop(index) if index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max((place.bottom() + 1 for _, place in self._places(width)), default=0)

    def sizeHint(self) -> QSize:
        """All in one row."""
        places = [place for _, place in self._places(1 << 20)]
        return QSize(max((place.right() + 1 for place in places), default=0), self.heightForWidth(1 << 20))

    def minimumSize(self) -> QSize:  # noqa: N802
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, room: QRect) -> None:  # noqa: N802
        super().setGeometry(room)
        of = self.parentWidget()
        direction = of.layoutDirection() if of else Qt.LayoutDirection.LeftToRight
        for item, place in self._places(room.width()):
            item.setGeometry(QStyle.visualRect(direction, room, place.translated(room.topLeft())))

    def _places(self, width: int) -> list[tuple[QLayoutItem, QRect]]:
        """Each shown item with its rectangle, from left to right."""
        left = top = height = 0
        places = []
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if left and left + size.width() > width:
                left, top, height = 0, top + height + self.spacing(), 0
            places.append((item, QRect(left, top, min(size.width(), width), size.height())))
            left, height = left + size.width() + self.spacing(), max(height, size.height())
        return places

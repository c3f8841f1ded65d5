"""Accessible roles of painted widgets: Qt knows only its own."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

_roles: dict[type[QWidget], QAccessible.Role] = {}


def set_role(kind: type[QWidget], role: QAccessible.Role) -> None:
    """Give all widgets of exactly this class a role."""
    if not _roles:
        QAccessible.installFactory(_interface)
    _roles[kind] = role


def _interface(_class_name: str, shown: QObject) -> QAccessibleInterface | None:
    role = _roles.get(type(shown)) if isinstance(shown, QWidget) else None
    return QAccessibleWidget(shown, role) if isinstance(shown, QWidget) and role is not None else None

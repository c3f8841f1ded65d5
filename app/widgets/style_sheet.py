"""The style sheet, with `$tokens` that theme.py fills in. Roles: `theme.set_role`. Fonts: `theme.font`."""

STYLE_SHEET = """
#page, #page > QWidget, QStackedWidget { background: $background; }
#page > #sidebar { background: $sidebar; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: 0; }

QLabel { background: transparent; color: $text; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="good"] { color: $good; }
QLabel[role="working"] { color: $accent_text; }
QLabel[role="accent"] { color: $accent_text; }
QLabel[role="problem"] { color: $problem; }
QLabel[role="paused"], QLabel[role="quiet"] { color: $muted; }
QLabel[role="chip"] { color: $muted; border: 1px solid $line; border-radius: 12px; padding: 4px 9px; }
QLabel[role="chip-now"] {
    color: $on_accent; background: $accent; border: 1px solid $accent; border-radius: 12px; padding: 4px 9px;
}
QLabel[role="badge"] { color: $muted; background: $track; border-radius: ${radius_cell}px; padding: 2px 7px; }
QLabel[role="badge-own"] { color: $on_accent; background: $accent; border-radius: ${radius_cell}px; padding: 2px 7px; }

QFrame[role="card"] { background: $card; border: 1px solid $line; border-radius: ${radius_card}px; }
QFrame[role="card-drop"] { background: $card; border: 2px dashed $accent; border-radius: ${radius_card}px; }
QFrame[role="notice-frame"] { background: $card; border: 1px solid $accent; border-radius: ${radius_button}px; }
QFrame[role="problem-frame"] {
    background: $problem_card; border: 1px solid $problem; border-radius: ${radius_button}px;
}
QFrame[role="line"] { background: $line; border: 0; }
QFrame[role="footer"] { background: transparent; border: 1px solid $line; border-radius: ${radius_button}px; }

QPushButton {
    background: $card; color: $text; border: 1px solid $line; border-radius: ${radius_button}px;
    padding: 0 16px; min-height: ${button_height}px; outline: 0;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $track; }
QPushButton:disabled { color: $muted; background: $track; border-color: $track; }
QPushButton[role="primary"], QPushButton[role="primary-left"], QPushButton[role="primary-menu"] {
    background: $accent; color: $on_accent; border: 0;
}
QPushButton[role="primary"]:hover, QPushButton[role="primary-left"]:hover, QPushButton[role="primary-menu"]:hover {
    background: $accent_hover;
}
QPushButton[role="primary"]:disabled, QPushButton[role="primary-left"]:disabled,
QPushButton[role="primary-menu"]:disabled { background: $track; color: $muted; }
QPushButton[role="primary-left"] { border-top-right-radius: 0; border-bottom-right-radius: 0; padding: 0 14px 0 20px; }
QPushButton[role="primary-menu"] {
    border-top-left-radius: 0; border-bottom-left-radius: 0; border-left: 1px solid $card; padding: 0;
}
QPushButton[role="link"] { background: transparent; border: 0; padding: 0 8px; color: $accent_text; min-height: 28px; }
QPushButton[role="link"]:hover { color: $text; }
QPushButton[role="link"]::menu-indicator, QPushButton[role="menu"]::menu-indicator { width: 0; image: none; }
QPushButton[role="icon"] { background: transparent; border: 0; padding: 0; min-height: 28px; }
QPushButton[role="icon"]:hover { background: $hover; }
QPushButton[role="icon"]:disabled { background: transparent; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QPushButton[role="preset"]:checked { background: $accent; color: $on_accent; border: 1px solid $accent; }
QPushButton[role="machine"] {
    text-align: left; font-weight: 400; padding-left: 10px; padding-right: 20px; min-height: 34px;
}
QPushButton[role="nav"] {
    background: transparent; color: $muted; border: 0; text-align: left; padding-left: 30px; min-height: 38px;
}
QPushButton[role="nav"]:hover { color: $text; }
QPushButton[role="nav"]:checked { background: $card; color: $text; font-weight: 600; }

QLineEdit {
    background: $background; color: $text; border: 1px solid $line; border-radius: ${radius_button}px;
    padding: 0 12px; min-height: ${button_height}px; selection-background-color: $accent; selection-color: $on_accent;
}
QLineEdit:focus { border: 1px solid $accent; }
QLineEdit[role="value"] { min-height: 30px; padding: 0 8px; }

QComboBox {
    background: $card; color: $text; border: 1px solid $line; border-radius: ${radius_button}px;
    padding: 0 12px; min-height: ${button_height}px;
}
QComboBox:hover { background: $hover; }
QComboBox:disabled { color: $muted; background: $track; border-color: $track; }
QComboBox::drop-down { border: 0; width: 26px; }
QComboBox QAbstractItemView {
    background: $card; color: $text; border: 1px solid $line; outline: 0; padding: 4px;
    selection-background-color: $hover; selection-color: $text;
}

QPlainTextEdit {
    background: $card; color: $text; border: 1px solid $line; border-radius: ${radius_button}px; padding: 8px;
    selection-background-color: $accent; selection-color: $on_accent;
}
QPlainTextEdit:focus { border: 1px solid $accent; }

QTableView { background: transparent; border: 0; selection-background-color: $hover; selection-color: $text; }
QTableView::item { border: 0; border-bottom: 1px solid $line; padding: 0 8px; color: $text; }
QTableView::item:selected { background: $hover; color: $text; }
QHeaderView, QHeaderView::section { background: transparent; border: 0; color: $muted; padding: 0; }
QHeaderView::section { border-bottom: 1px solid $line; padding: 0 ${header_padding}px; }

QMenu { background: $card; color: $text; border: 1px solid $line; padding: 6px; }
QMenu::item { padding: 7px 22px 7px 14px; border-radius: 6px; }
QMenu::item:selected { background: $hover; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $line; margin: 5px 8px; }
QToolTip { background: $card; color: $text; border: 1px solid $line; padding: 4px 8px; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 2px; }
QScrollBar::handle:vertical { background: $line; border-radius: 3px; min-height: 32px; }
QScrollBar::handle:vertical:hover { background: $muted; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 2px; }
QScrollBar::handle:horizontal { background: $line; border-radius: 3px; min-width: 32px; }
QScrollBar::add-line, QScrollBar::sub-line { height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
"""

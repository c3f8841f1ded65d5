"""Qt's own texts, such as the menu of a text field, in languages that Qt is not translated into."""

from PySide6.QtCore import QTranslator

from app.text.i18n import N_, translate

_TEXTS = (
    N_("Undo"), N_("Redo"), N_("Cut"), N_("Copy"), N_("Paste"), N_("Delete"), N_("Select All"),
    N_("OK"), N_("Cancel"), N_("Open"), N_("Save"),
    N_("Look in:"), N_("File name:"), N_("Files of type:"), N_("Directory:"),
    N_("Back"), N_("Forward"), N_("Parent Directory"), N_("Create New Folder"), N_("List View"), N_("Detail View"),
    N_("Name"), N_("Size"), N_("Type"), N_("Date Modified"), N_("Computer"),
    N_("Rename"), N_("New Folder"), N_("Show hidden files"),
)  # fmt: skip


class QtTexts(QTranslator):
    """Those of menus and of the dialog for files; the rest stays English."""

    def isEmpty(self) -> bool:  # noqa: N802 — Qt's own name
        return False

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:  # noqa: ARG002
        plain = source.replace("&", "")
        return translate(plain) if plain in _TEXTS else None

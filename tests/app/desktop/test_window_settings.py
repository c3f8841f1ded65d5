"""What the window remembers is in the profile, and nowhere else."""

from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from app.desktop.window_settings import Settings
from core.client.profile import Profile


def test_what_the_file_dialog_remembers_is_in_the_profile(profile: Profile, qtbot: QtBot) -> None:
    Settings(profile)
    dialog = QFileDialog()
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.show()
    dialog.accept()
    dialog.deleteLater()
    QApplication.sendPostedEvents()
    qtbot.waitUntil((profile.path / "QtProject.conf").exists)

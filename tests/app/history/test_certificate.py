"""The year as a picture and the certificate, opened by programs that know nothing of Qt."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from app.desktop import language
from app.history import certificate
from app.widgets import theme
from core.api.errors import WorldError
from core.api.record.record import ProjectGiven
from tests.app.history.record import OVERVIEW

FINGERPRINTS = ("0123456789abcdef" * 4, "f00d" * 16)
PROJECTS = (
    ProjectGiven("b", "Bees", 30_000.0, 800, "bees-1", FINGERPRINTS[0]),
    ProjectGiven("m", "Moths", 6000.0, 100, "moths-7", FINGERPRINTS[1]),
)
GIVEN = msgspec.structs.replace(OVERVIEW, projects=PROJECTS)


def poppler(program: str, *arguments: str) -> str:
    if shutil.which(program) is None:
        pytest.skip("poppler-utils is not installed")
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=True).stdout


def words_of(pdf: Path) -> str:
    """All text of the page, with plain spaces; what is a ligature on paper is letters again."""
    text = poppler("pdftotext", "-layout", str(pdf), "-")
    return " ".join(re.sub("[\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]", " ", text).replace("\ufb01", "fi").split())


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    language.apply(qapp, "de")
    yield
    language.apply(qapp, "en")


def test_another_program_reads_the_figures_and_fingerprints_of_the_certificate(
    qapp: QApplication, tmp_path: Path
) -> None:
    certificate.save_certificate(GIVEN, tmp_path / "c.pdf", "Ada Lovelace")
    text = words_of(tmp_path / "c.pdf")
    for told in (
        "Certificate of contribution", "Ada Lovelace has given 10 h", "1 Mar – 30 Mar 2026",
        "900 samples accepted", "70 rounds", "8 PFLOP computed", "1 kWh of energy, estimated in part",
        "Bees 8 h 20 min · 800 samples Run bees-1", "Moths 1 h 40 min · 100 samples Run moths-7",
    ):  # fmt: skip
        assert told in text
    read = re.findall(r"\b[0-9a-f]{8}(?: [0-9a-f]{8}){7}\b", text)
    assert [line.replace(" ", "") for line in read] == list(FINGERPRINTS)


@pytest.mark.parametrize(
    ("joules", "estimated", "told"),
    [(9e6, None, "of energy"), (9e6, 1e6, "of energy, estimated in part"), (None, 1e6, "of energy, estimated")],
)
def test_an_estimate_of_energy_is_told_as_one(joules: float | None, estimated: float | None, told: str) -> None:
    sums = msgspec.structs.replace(OVERVIEW.sums, joules=joules, estimated_joules=estimated)
    assert certificate.figures(msgspec.structs.replace(OVERVIEW, sums=sums))[-1].name == told


def test_the_certificate_is_one_page_of_a4_on_which_no_two_words_meet(qapp: QApplication, tmp_path: Path) -> None:
    many = tuple(msgspec.structs.replace(PROJECTS[0], name=f"Project {n} " + "of many bees " * 6) for n in range(9))
    certificate.save_certificate(msgspec.structs.replace(GIVEN, projects=many), tmp_path / "c.pdf", "Ada Lovelace " * 9)
    about = poppler("pdfinfo", str(tmp_path / "c.pdf"))
    assert re.search(r"Pages: +1\n", about)
    assert re.search(r"Page size: +59[45](\.\d+)? x 84[12](\.\d+)? pts \(A4\)", about)
    words = boxes(tmp_path / "c.pdf")
    assert all(QRectF(36, 36, 523, 770).contains(word) for word in words.values())
    assert [(one, other) for one, other in combinations(words, 2) if words[one].intersects(words[other])] == []
    assert "and 4 further projects" in words_of(tmp_path / "c.pdf")


def boxes(pdf: Path) -> dict[tuple[str, int], QRectF]:
    """Where each word stands, in points; as high as its small letters, since lines may stand close."""
    edge = r'xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)<'
    found = re.findall(edge, poppler("pdftotext", "-bbox", str(pdf), "-"))
    assert len(found) > 60
    return {
        (word, number): QRectF(QPointF(float(left), float(top)), QPointF(float(right), float(bottom))).adjusted(
            0.1, 0.25 * (float(bottom) - float(top)), -0.1, -0.25 * (float(bottom) - float(top))
        )
        for number, (left, top, right, bottom, word) in enumerate(found)
    }


def test_the_certificate_looks_on_paper_as_it_was_painted(qapp: QApplication, tmp_path: Path) -> None:
    certificate.save_certificate(GIVEN, tmp_path / "c.pdf")
    poppler("pdftoppm", "-r", "72", "-png", "-singlefile", str(tmp_path / "c.pdf"), str(tmp_path / "c"))
    page = QImage(str(tmp_path / "c.png"))
    assert (page.width(), page.height()) == (595, 842)
    accent = QColor(theme.LIGHT.accent)
    assert _close(page.pixelColor(29, 400), accent), "the frame"
    assert _close(page.pixelColor(297, 99), accent), "the middle of the logo"
    assert page.pixelColor(10, 10) == QColor("white")


def test_the_certificate_can_be_in_german(german: None, tmp_path: Path) -> None:
    certificate.save_certificate(GIVEN, tmp_path / "c.pdf")
    text = words_of(tmp_path / "c.pdf")
    for told in (
        "Urkunde über den Beitrag",
        "900 Beispiele angenommen",
        "1 kWh Energie, teils geschätzt",
        FINGERPRINTS[0][:8],
    ):
        assert told in text


def test_the_year_becomes_a_picture_and_a_drawing(qapp: QApplication, tmp_path: Path) -> None:
    certificate.save_summary(OVERVIEW, tmp_path / "y.png", svg=False)
    certificate.save_summary(OVERVIEW, tmp_path / "y.svg", svg=True)
    picture = QImage(str(tmp_path / "y.png"))
    assert (picture.width(), picture.height()) == (2400, 1440)
    assert QSvgRenderer(str(tmp_path / "y.svg")).isValid()
    width, unit = re.findall(r'<svg width="([\d.]+)(\w*)"', (tmp_path / "y.svg").read_text())[0]
    assert float(width) / {"mm": 25.4, "px": 96.0}[unit] * 96.0 == pytest.approx(1200, rel=0.01), (
        "as large in a browser"
    )
    assert sorted(file.name for file in tmp_path.iterdir()) == ["y.png", "y.svg"]


@pytest.mark.parametrize("save", [lambda path: certificate.save_summary(OVERVIEW, path, svg=False),
                                  lambda path: certificate.save_summary(OVERVIEW, path, svg=True),
                                  lambda path: certificate.save_certificate(OVERVIEW, path)])  # fmt: skip
def test_a_file_that_cannot_be_written_is_told(
    qapp: QApplication, tmp_path: Path, save: Callable[[Path], None]
) -> None:
    with pytest.raises(WorldError, match=r"file_not_written|path_not_writable"):
        save(tmp_path / "nowhere" / "file")


def _close(one: QColor, other: QColor) -> bool:
    return abs(one.red() - other.red()) + abs(one.green() - other.green()) + abs(one.blue() - other.blue()) < 60

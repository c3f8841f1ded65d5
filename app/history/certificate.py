"""The record to show around: a year as a picture, and a certificate to print, painted by Qt."""

import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QMarginsF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPageSize, QPainter, QPdfWriter, QPen
from PySide6.QtSvg import QSvgGenerator

from app.desktop.atomic_file import replacing
from app.history.charts import shades
from app.text import history
from app.text.formats import amounts, numbers, times
from app.text.i18n import tr, trn
from app.widgets import icons, theme
from core.api.errors import WorldError
from core.api.record.record import Overview, Sums

_WIDTH, _HEIGHT = 1200, 720
_LEFT, _TOP = 64.0, 56.0
_PDF_WIDTH, _PDF_HEIGHT = 1240.0, 1754.0
"""A4 at 150 dots an inch, in which the certificate is laid out."""
_MOST_PROJECTS = 5
_DOTS = 96
"""An inch, as browsers count: a drawing is then as large in them as the picture."""
_CENTRE = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
_BEGIN = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class Ink(NamedTuple):
    pixels: int
    colour: str
    weight: QFont.Weight
    side: Qt.AlignmentFlag = _BEGIN


class Figure(NamedTuple):
    value: str
    unit: str
    name: str


def figures(overview: Overview) -> list[Figure]:
    """The figures that both pictures show, largest first."""
    sums = overview.sums
    samples = sums.samples if sums.accepted is None else sums.accepted
    found = [
        Figure(*history.hours(sums.seconds), tr("given")),
        Figure(numbers.count(samples), "", tr("samples accepted") if sums.accepted is not None else tr("samples")),
        Figure(numbers.count(sums.rounds), "", tr("rounds")),
    ]
    if sums.flops:
        found.append(Figure(*numbers.work_parts(sums.flops), tr("computed")))
    if sums.energy is not None:
        found.append(Figure(*numbers.energy_parts(sums.energy), _of_energy(sums)))
    return found


def _of_energy(sums: Sums) -> str:
    if not sums.estimated_joules:
        return tr("of energy")
    return tr("of energy, estimated in part") if sums.joules else tr("of energy, estimated")


def save_summary(overview: Overview, path: Path, *, svg: bool) -> None:
    """The year of an overview as a picture, PNG or SVG.

    Raises:
        WorldError: the file cannot be written.
    """
    _save(path, lambda unfinished: (_paint_svg if svg else _paint_png)(unfinished, overview))


def save_certificate(overview: Overview, path: Path, name: str = "") -> None:
    """All figures of an overview, and the fingerprints of the runs, on a page of A4 as PDF.

    Raises:
        WorldError: the file cannot be written.
    """
    _save(path, lambda unfinished: _paint_pdf(unfinished, overview, name))


def _save(path: Path, paint: Callable[[Path], bool]) -> None:
    with replacing(path) as unfinished:
        if not paint(unfinished):
            raise WorldError("path_not_writable", path=str(path))


def _paint_pdf(path: Path, overview: Overview, name: str) -> bool:
    page = QPdfWriter(str(path))
    page.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    page.setPageMargins(QMarginsF(0, 0, 0, 0))
    page.setTitle(tr("Certificate of contribution"))
    page.setCreator("Idlehive")
    painter = QPainter()
    if not painter.begin(page):
        return False
    painter.scale(page.width() / _PDF_WIDTH, page.height() / _PDF_HEIGHT)
    _paint_certificate(painter, overview, name)
    return painter.end()


def _paint_png(path: Path, overview: Overview) -> bool:
    picture = QImage(_WIDTH * 2, _HEIGHT * 2, QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    painter.scale(2, 2)
    _paint_summary(painter, overview)
    painter.end()
    written: bool = picture.save(str(path), "PNG")  # type: ignore[call-overload]
    return written


def _paint_svg(path: Path, overview: Overview) -> bool:
    drawing = QSvgGenerator()
    drawing.setResolution(_DOTS)
    drawing.setSize(QSize(_WIDTH, _HEIGHT))
    drawing.setViewBox(QRectF(0, 0, _WIDTH, _HEIGHT))
    drawing.setTitle(tr("Given with Idlehive in {year}", year=overview.year))
    drawing.setFileName(str(path))
    painter = QPainter()
    if not painter.begin(drawing):
        return False
    _paint_summary(painter, overview)
    return painter.end()


def _paint_summary(painter: QPainter, overview: Overview) -> None:
    now = theme.LIGHT
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(QRectF(0, 0, _WIDTH, _HEIGHT), QColor(now.background))
    painter.drawPixmap(round(_LEFT), round(_TOP), icons.logo_picture(44, 1.0))
    _text(painter, QRectF(_LEFT + 58, _TOP + 6, 600, 40), "Idlehive", Ink(26, now.text, QFont.Weight.DemiBold))
    year = QRectF(_LEFT, _TOP, _WIDTH - 2 * _LEFT, 60)
    _text(painter, year, str(overview.year), Ink(40, now.accent_text, QFont.Weight.Bold, Qt.AlignmentFlag.AlignRight))
    line = tr("Idle computer time, given to open deep learning")
    _text(painter, QRectF(_LEFT, _TOP + 70, 900, 30), line, Ink(19, now.muted, QFont.Weight.Normal))
    shown = figures(overview)[:5]
    width = (_WIDTH - 2 * _LEFT + 16) / max(1, len(shown))
    for number, figure in enumerate(shown):
        _paint_figure(painter, QRectF(_LEFT + number * width, 190, width - 16, 130), figure)
    _paint_calendar(painter, overview)
    names = ", ".join(project.name for project in overview.projects[:3])
    if names:
        _line(painter, QRectF(_LEFT, 574, _WIDTH - 2 * _LEFT, 26), names, Ink(18, now.text, QFont.Weight.DemiBold))
    comparison = " ".join(history.comparisons(overview.sums)[:1])
    _text(painter, QRectF(_LEFT, 608, _WIDTH - 2 * _LEFT, 54), comparison, Ink(16, now.muted, QFont.Weight.Normal))


def _paint_figure(painter: QPainter, where: QRectF, figure: Figure) -> None:
    now = theme.LIGHT
    painter.setPen(QPen(QColor(now.line), 1))
    painter.setBrush(QColor(now.card))
    painter.drawRoundedRect(where, theme.RADIUS_CARD, theme.RADIUS_CARD)
    inner = where.adjusted(18, 24, -10, -10)
    size = 34 if len(figure.value) + len(figure.unit) < 8 else 26
    _text(painter, inner, numbers.with_unit(figure.value, figure.unit), Ink(size, now.text, QFont.Weight.Bold))
    _text(painter, inner.adjusted(0, 52, 0, 0), figure.name, Ink(16, now.muted, QFont.Weight.Normal))


def _paint_calendar(painter: QPainter, overview: Overview) -> None:
    now, first = theme.LIGHT, date(overview.year, 1, 1)
    size, most = (_WIDTH - 2 * _LEFT) / 54, max(overview.calendar, default=0.0)
    painter.setPen(Qt.PenStyle.NoPen)
    for place, seconds in enumerate(overview.calendar):
        column, row = divmod(place + first.weekday(), 7)
        step = shades.step(seconds, most)
        painter.setBrush(shades.shade(step, now) if step else QColor(now.track))
        painter.drawRoundedRect(QRectF(_LEFT + column * size, 378 + row * size, size - 4, size - 4), 4, 4)
    for number in range(1, 13):
        column = ((first.replace(month=number) - first).days + first.weekday()) // 7
        where = QRectF(_LEFT + column * size, 350, 80, 22)
        _text(painter, where, times.month(number), Ink(14, now.muted, QFont.Weight.Normal))


def _paint_certificate(painter: QPainter, overview: Overview, name: str) -> None:
    now, middle = theme.LIGHT, QRectF(130, 0, _PDF_WIDTH - 260, 60)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(now.accent), 5))
    painter.drawRect(QRectF(60, 60, _PDF_WIDTH - 120, _PDF_HEIGHT - 120))
    painter.setPen(QPen(QColor(now.line), 2))
    painter.drawRect(QRectF(74, 74, _PDF_WIDTH - 148, _PDF_HEIGHT - 148))
    painter.drawPixmap(QRectF(_PDF_WIDTH / 2 - 55, 150, 110, 110), icons.logo_picture(220, 1.0), QRectF(0, 0, 220, 220))
    title = tr("Certificate of contribution")
    _text(painter, middle.translated(0, 300), title, Ink(54, now.text, QFont.Weight.Bold, _CENTRE), 80)
    whom = tr("{name} has given", name=name) if name else tr("This computer has given")
    _line(painter, middle.translated(0, 410), whom, Ink(32, now.muted, QFont.Weight.Normal, _CENTRE))
    first, *others = figures(overview)
    hours = numbers.with_unit(first.value, first.unit)
    _text(painter, middle.translated(0, 465), hours, Ink(84, now.accent_text, QFont.Weight.Bold, _CENTRE), 120)
    line = tr("of idle computer time to open deep learning, {span}.", span=times.span(overview.since, overview.until))
    _text(painter, middle.translated(0, 595), line, Ink(28, now.text, QFont.Weight.Normal, _CENTRE))
    top = 690.0
    for figure in others:
        text = numbers.with_unit(figure.value, figure.unit)
        left, right = QRectF(130, top, 470, 46), QRectF(625, top, 500, 46)
        _text(painter, left, text, Ink(32, now.text, QFont.Weight.DemiBold, Qt.AlignmentFlag.AlignRight))
        _text(painter, right, figure.name, Ink(28, now.muted, QFont.Weight.Normal))
        top += 54
    _paint_runs(painter, overview, max(top + 40, 960.0))
    today = times.day(time.time())
    foot = tr(
        "Issued by this computer's own record on {day}. The figures are its own; nobody else has signed them.",
        day=today,
    )
    _text(painter, middle.translated(0, _PDF_HEIGHT - 190), foot, Ink(20, now.muted, QFont.Weight.Normal, _CENTRE), 90)


def _paint_runs(painter: QPainter, overview: Overview, top: float) -> None:
    """Each project with its run and the fingerprint of that."""
    now = theme.LIGHT
    painter.setPen(QPen(QColor(now.line), 2))
    for project in overview.projects[:_MOST_PROJECTS]:
        where = QRectF(160, top, _PDF_WIDTH - 320, 36)
        name = where.adjusted(0, 0, -340, 0)
        _line(painter, name, project.name, Ink(26, now.text, QFont.Weight.DemiBold))
        given = f"{numbers.duration(project.seconds)} · {amounts.samples(project.samples)}"
        _text(painter, where, given, Ink(24, now.muted, QFont.Weight.Normal, Qt.AlignmentFlag.AlignRight))
        if project.fingerprint:
            run = tr("Run {run_id}", run_id=project.run_id)
            _line(painter, where.translated(0, 36), run, Ink(19, now.muted, QFont.Weight.Normal))
            grouped = " ".join(project.fingerprint[at : at + 8] for at in range(0, 64, 8))
            _text(painter, where.translated(0, 62), grouped, Ink(17, now.muted, QFont.Weight.Normal))
        top += 110 if project.fingerprint else 50
    more = len(overview.projects) - _MOST_PROJECTS
    if more > 0:
        further = trn("and one further project", "and {n} further projects", more, n=numbers.count(more))
        _text(painter, QRectF(160, top, 600, 30), further, Ink(20, now.muted, QFont.Weight.Normal))


def _line(painter: QPainter, where: QRectF, text: str, ink: Ink) -> None:
    """One line, cut short where it is too long."""
    metrics = QFontMetricsF(_font(painter, ink))
    _text(painter, where, metrics.elidedText(text, Qt.TextElideMode.ElideRight, where.width()), ink)


def _font(painter: QPainter, ink: Ink) -> QFont:
    kind = QFont(painter.font())
    kind.setPixelSize(ink.pixels)
    kind.setWeight(ink.weight)
    return kind


def _text(painter: QPainter, where: QRectF, text: str, ink: Ink, height: float = 0.0) -> None:
    painter.setFont(_font(painter, ink))
    painter.setPen(QColor(ink.colour))
    room = QRectF(where.topLeft(), QSizeF(where.width(), max(height, where.height(), ink.pixels * 1.5)))
    painter.drawText(room, int(ink.side) | int(Qt.TextFlag.TextWordWrap), text)

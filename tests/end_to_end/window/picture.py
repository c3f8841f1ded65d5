"""What is on a screen, looked at by its colours: the theme gives each a meaning, so they tell what the window shows."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from PySide6.QtGui import QColor, QImage

Point = tuple[int, int]


@dataclass(frozen=True)
class Picture:
    """Rows of pixels, four bytes each; the fourth is always 255, so that no colour is found across two pixels."""

    rows: tuple[bytes, ...]

    @classmethod
    def of_file(cls, file: Path) -> Self:
        image = QImage(str(file)).convertToFormat(QImage.Format.Format_RGB32)
        assert not image.isNull(), f"{file} is no picture"
        pixels, length = bytes(image.constBits()), image.bytesPerLine()
        return cls(tuple(pixels[start : start + length] for start in range(0, len(pixels), length)))

    def shows(self, colour: str) -> bool:
        """Whether a colour (#RRGGBB) is anywhere."""
        return any(_pixel(colour) in row for row in self.rows)

    def colours(self, left: int, top: int, right: int, bottom: int) -> int:
        """How many different colours an area has."""
        parts = (self.rows[y][4 * left : 4 * right] for y in range(top, bottom))
        return len({part[at : at + 4] for part in parts for at in range(0, len(part), 4)})

    def lowest_button(self, colour: str) -> Point | None:
        """The middle of the lowest stretch of a colour that is as wide as a button: just above its lower edge."""
        face = re.compile(b"(?:%b){60,}" % re.escape(_pixel(colour)))
        for y in range(len(self.rows) - 1, -1, -1):
            if match := face.search(self.rows[y]):
                return (match.start() + match.end()) // 8, y - 4
        return None

    def split_button(self, colour: str, line: str) -> Point | None:
        """The middle of the larger part of a button that a line of one pixel parts in two.

        Its text breaks the colour in the middle rows, so those above and below the text are looked for.
        """
        face, border = (re.escape(_pixel(each)) for each in (colour, line))
        button = re.compile(b"((?:%b){40,})%b(?:%b){20,}" % (face, border, face))
        seen = [(y, match) for y, row in enumerate(self.rows) if (match := button.search(row))]
        if not seen:
            return None
        (top, widest), (bottom, _) = seen[0], seen[-1]
        return (widest.start(1) + widest.end(1)) // 8, (top + bottom) // 2

    def spots(self, colour: str, top: int, smallest: int) -> int:
        """How many areas of a colour there are below row `top`, each of `smallest` pixels or more."""
        wanted = re.compile(re.escape(_pixel(colour)))
        left = {(match.start() // 4, y) for y in range(top, len(self.rows)) for match in wanted.finditer(self.rows[y])}
        count = 0
        while left:
            count += len(_take_area(left)) >= smallest
        return count


def _take_area(left: set[Point]) -> set[Point]:
    """Take one connected area out of `left`."""
    area, edge = set[Point](), {left.pop()}
    while edge:
        x, y = edge.pop()
        area.add((x, y))
        near = {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)} & left
        left -= near
        edge |= near
    return area


def _pixel(colour: str) -> bytes:
    return QColor(colour).rgba().to_bytes(4, "little")

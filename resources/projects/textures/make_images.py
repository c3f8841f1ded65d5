"""Make the pictures of this project: textures of ten classes as shards with labels.

    .venv/bin/python resources/projects/textures/make_images.py FOLDER

Each picture has 40 × 40 pixels: a pattern with random greys, place and noise, so that no class can be told by its
brightness. Labels are only used to measure what was learned.
"""

import io
import math
import sys
import tarfile
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image

SIZE = 40
CLASSES = 10
SHARDS, PICTURES, HELD_OUT = 4, 200, 400
"""Files to learn from, and pictures in each; pictures that are held out."""


def pattern(kind: int, random: Random) -> np.ndarray:
    """(SIZE, SIZE) numbers from 0 to 1."""
    period, phase = random.uniform(7, 10), (random.uniform(0, 10), random.uniform(0, 10))
    y, x = np.mgrid[:SIZE, :SIZE] + np.array(phase)[:, None, None]
    turn = 2 * math.pi / period
    radius = np.hypot(x - phase[1] - SIZE / 2, y - phase[0] - SIZE / 2)
    angles = [random.uniform(0, math.pi) for _ in range(5)]
    # No class is another one's mirror image: views are mirrored at random.
    shapes = (
        lambda: np.sin(x * turn) > 0,
        lambda: np.sin(y * turn) > 0,
        lambda: np.sin((x + y) * turn / math.sqrt(2)) > 0,
        lambda: sum(np.sin(x * turn * math.cos(a) + y * turn * math.sin(a) + 9 * a) for a in angles) > 0,
        lambda: np.sin(x * turn) * np.sin(y * turn) > 0,
        lambda: (np.sin(x * turn) > 0.3) & (np.sin(y * turn) > 0.3),
        lambda: (np.sin(x * turn) > 0.8) | (np.sin(y * turn) > 0.8),
        lambda: np.sin(radius * turn) > 0,
        lambda: radius < random.uniform(9, 14),
        lambda: np.sin(x * turn + 2 * np.sin(y * turn / 2)) > 0,
    )
    return np.asarray(shapes[kind](), dtype=float)


def picture(kind: int, random: Random) -> bytes:
    """A JPEG."""
    # Greys: two colours would be the easiest way to recognise a view of the same picture.
    dark, light = random.uniform(0.0, 0.4), random.uniform(0.6, 1.0)
    grounds = (dark, light) if random.random() < 0.5 else (light, dark)
    shape = pattern(kind, random)[:, :, None]
    noise = np.random.default_rng(random.getrandbits(32)).normal(0, 0.08, (SIZE, SIZE, 3))
    pixels = np.clip(shape * grounds[0] + (1 - shape) * grounds[1] + noise, 0, 1)
    file = io.BytesIO()
    Image.fromarray((pixels * 255).astype(np.uint8)).save(file, "JPEG", quality=80)
    return file.getvalue()


def write(path: Path, count: int, seed: int) -> None:
    """A shard of so many pictures, the classes in turn."""
    random = Random(seed)
    with tarfile.open(path, "w") as archive:
        for number in range(count):
            kind = random.randrange(CLASSES)
            for suffix, content in (("jpg", picture(kind, random)), ("cls", str(kind).encode())):
                member = tarfile.TarInfo(f"{number:05}.{suffix}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


def make(folder: Path, shards: int = SHARDS, pictures: int = PICTURES, held_out: int = HELD_OUT) -> None:
    """All shards; the same arguments make the same pictures."""
    for shard in range(shards):
        write(folder / f"train-{shard}.tar", pictures, shard)
    write(folder / "held-out.tar", held_out, shards)


if __name__ == "__main__":
    make(Path(sys.argv[1]))

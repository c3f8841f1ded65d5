"""Make the data of this project: captions such as "a red square left of a blue circle", and the codes of pictures.

    .venv/bin/python resources/projects/shapes/make_pictures.py FOLDER

Each picture has 32 × 32 pixels: two shapes, not always in the same place. A code stands for a patch of 4 × 4 pixels:
the nearest one in codebook.png, which has the patches nearest to the centres of k-means (Lloyd 1982) on those of such
pictures; --codebook makes it again, and tokenizer.json. Captions of the held-out file are in no other one.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image, ImageDraw
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

SIZE, PATCH, CODES = 32, 4, 192
"""Pixels of a picture and of a patch; patches of the codebook."""
SHARDS, PICTURES, HELD_OUT = 4, 1000, 256
"""Files to learn from, and pictures in each; pictures that are held out."""
COLOURS = {"red": (214, 50, 48), "blue": (38, 84, 198), "green": (46, 158, 74), "yellow": (240, 196, 25)}
SHAPES = ("square", "circle", "triangle")
RELATIONS = {"left of": (0, 0, 1, 0), "above": (0, 0, 0, 1)}
"""Cells of the first and of the second shape: column and row of each."""
GROUND = (246, 244, 240)
HERE = Path(__file__).parent

Scene = tuple[str, str, str, str, str]
"""Colour and shape of the first, relation, colour and shape of the second."""


def scenes(held_out: bool) -> list[Scene]:
    """Every eighth is held out."""
    kinds = list(product(COLOURS, SHAPES, RELATIONS, COLOURS, SHAPES))
    Random(0).shuffle(kinds)
    return [scene for number, scene in enumerate(kinds) if (number % 8 == 0) == held_out]


def caption(scene: Scene) -> str:
    return "a {} {} {} a {} {}".format(*scene)


def picture(scene: Scene, random: Random) -> np.ndarray:
    """(SIZE, SIZE, 3) bytes."""
    image = Image.new("RGB", (4 * SIZE, 4 * SIZE), GROUND)  # drawn four times as large, for smooth edges
    draw = ImageDraw.Draw(image)
    first, relation, second = scene[:2], scene[2], scene[3:]
    cells = RELATIONS[relation]
    for (colour, shape), (column, row) in ((first, cells[:2]), (second, cells[2:])):
        across, down = (cells[2] or cells[0]) and 16 * column, (cells[3] or cells[1]) and 16 * row
        left = across + 2 + 2 * random.randrange(2) + (0 if cells[2] else 8)
        top = down + 2 + 2 * random.randrange(2) + (0 if cells[3] else 8)
        box = [4 * left, 4 * top, 4 * (left + 10) - 1, 4 * (top + 10) - 1]
        match shape:
            case "square":
                draw.rectangle(box, COLOURS[colour])
            case "circle":
                draw.ellipse(box, COLOURS[colour])
            case "triangle":
                draw.polygon([(box[0], box[3]), (box[2], box[3]), ((box[0] + box[2]) / 2, box[1])], COLOURS[colour])
    return np.asarray(image.resize((SIZE, SIZE), Image.Resampling.BOX))


def patches(pixels: np.ndarray) -> np.ndarray:
    """(codes of a picture, numbers of a patch), row by row."""
    side = SIZE // PATCH
    return pixels.reshape(side, PATCH, side, PATCH, 3).swapaxes(1, 2).reshape(side * side, -1).astype(np.float64)


def nearest(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The number of the nearest centre for each row."""
    return ((rows**2).sum(1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(1)).argmin(1)


def codebook() -> np.ndarray:
    """The same every time."""
    random, chance = Random(0), np.random.default_rng(0)
    rows = np.concatenate([patches(picture(random.choice(scenes(False)), random)) for _ in range(2000)])
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    weights = np.sqrt(counts)  # nearly all are of the ground
    centres = kinds[chance.choice(len(kinds), 1)]
    while len(centres) < CODES:  # k-means++ (Arthur and Vassilvitskii 2007)
        far = ((kinds - centres[nearest(kinds, centres)]) ** 2).sum(1) * weights
        centres = np.concatenate([centres, kinds[chance.choice(len(kinds), 1, p=far / far.sum())]])
    for _ in range(50):
        own = nearest(kinds, centres)
        centres = np.stack([np.average(kinds[own == code], 0, weights[own == code]) for code in range(CODES)])
    return kinds[nearest(centres, kinds)]


def load_codebook() -> np.ndarray:
    return np.asarray(Image.open(HERE / "codebook.png").convert("RGB")).reshape(CODES, -1).astype(np.float64)


def tokenizer() -> Tokenizer:
    """One token a word."""
    words = sorted({word for scene in scenes(False) for word in caption(scene).split()})
    made = Tokenizer(WordLevel({word: number for number, word in enumerate(["[PAD]", "[UNK]", *words])}, "[UNK]"))
    made.pre_tokenizer = WhitespaceSplit()
    made.add_special_tokens(["[PAD]", "[UNK]"])
    return made


def lines(kinds: Sequence[Scene], count: int, seed: str) -> Iterator[str]:
    random, centres = Random(seed), load_codebook()
    for _ in range(count):
        scene = random.choice(kinds)
        codes = nearest(patches(picture(scene, random)), centres)
        yield json.dumps({"caption": caption(scene), "codes": codes.tolist()}, separators=(",", ":")) + "\n"


def make(folder: Path, shards: int = SHARDS, pictures: int = PICTURES, held_out: int = HELD_OUT) -> None:
    """All files; the same arguments make the same ones."""
    for shard in range(shards):
        (folder / f"train-{shard}.jsonl").write_text("".join(lines(scenes(False), pictures, f"train {shard}")))
    (folder / "held-out.jsonl").write_text("".join(lines(scenes(True), held_out, "held out")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--codebook", action="store_true", help="make codebook.png and tokenizer.json, too")
    chosen = parser.parse_args()
    if chosen.codebook:
        strip = codebook().reshape(CODES * PATCH, PATCH, 3).astype(np.uint8)
        Image.fromarray(strip).save(HERE / "codebook.png", optimize=True)
        tokenizer().save(str(HERE / "tokenizer.json"))
    make(chosen.folder)

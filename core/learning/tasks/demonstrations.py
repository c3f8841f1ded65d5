"""Examples of what a model can do, for `core.api.project.demonstration`. The same model gives the same ones."""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import torch
from tokenizers import Tokenizer

from core.api.project.demonstration import LARGEST_PICTURE, Demonstration, Span

_PROMPT, _WRITTEN, _SHOWN = 16, 32, 40
"""Tokens that are given, that are written, and of a masked text."""
_LONGEST = 500
"""Letters of one text, so that all together can be sent; a token may stand for thousands."""
_CHOICES, _SEED = 20, 0
"""A token is drawn from so many: the most likely one alone repeats itself."""
_SIDE, _EDGE = 48, 3
"""Pixels of a picture in a table, and between two of them."""
_DRAWN, _LEAST_SIDE = 3, 112
"""Pictures that are drawn; about the pixels of each that is smaller than that."""


def continued(tokenizer: Tokenizer, model: Any, tokens: torch.Tensor) -> Demonstration:
    """The beginning of a row of tokens, and what the model writes after it."""
    row, chance = tokens[None, : min(_PROMPT, len(tokens) // 2)], torch.Generator().manual_seed(_SEED)
    given = row.shape[1]
    for _ in range(min(_WRITTEN, len(tokens) - given)):
        logits = model(input_ids=row, use_cache=False).logits[0, -1].float().cpu().nan_to_num()
        likely = logits.topk(min(_CHOICES, len(logits)))
        drawn = int(torch.multinomial(likely.values.softmax(-1), 1, generator=chance))
        row = torch.cat((row, likely.indices[drawn].view(1, 1).to(row.device)), 1)
    numbers = row[0].tolist()
    before, made = _between(tokenizer, numbers, 0, given), _between(tokenizer, numbers, given, len(numbers))
    return Demonstration("continued_text", (Span(before), Span(made, is_made=True)))


def filled(tokenizer: Tokenizer, labels: torch.Tensor, inputs: torch.Tensor, logits: torch.Tensor) -> Demonstration:
    """The beginning of a row of tokens with what the model predicts where `labels` asks (below 0: nothing is asked)."""
    right = torch.where(labels < 0, inputs, labels)[:_SHOWN].tolist()
    guesses = logits.argmax(-1).tolist()
    spans, at = list[Span](), 0
    for place in range(len(right)):
        if labels[place] >= 0:
            spans += [Span(_between(tokenizer, right, at, place)), _guess(tokenizer, right, place, guesses[place])]
            at = place + 1
    spans.append(Span(_between(tokenizer, right, at, len(right))))
    return Demonstration("filled_masks", tuple(span for span in spans if span.text))


def nearest(pictures: torch.Tensor, features: torch.Tensor, rows: int = 4, columns: int = 5) -> Demonstration | None:
    """Some pictures, and in the row of each those whose features are the most similar; None of too few.

    `pictures`: (count, 3, height, width) of 0 to 1; `features`: (count, size).
    """
    if len(pictures) < rows * columns:
        return None
    directions = torch.nn.functional.normalize(features.float(), dim=-1)
    asked = torch.linspace(0, len(pictures) - 1, rows).long()
    similar = directions[asked] @ directions.T
    similar[torch.arange(rows), asked] = 2  # a picture comes first in its own row
    places = similar.topk(columns).indices.flatten()
    small = torch.nn.functional.interpolate(pictures[places], size=(_SIDE, _SIDE), mode="bilinear", antialias=True)
    return Demonstration("nearest_pictures", picture=table(small, columns))


def drawn(tokenizer: Tokenizer, model: Any, caption: torch.Tensor, codes: int, codebook: bytes) -> Demonstration:
    """Pictures of so many codes that the model draws for a row of tokens, all for the same one."""
    chance = torch.Generator().manual_seed(_SEED)

    def choose(logits: torch.Tensor) -> torch.Tensor:
        likely = logits.float().cpu().nan_to_num().topk(min(_CHOICES, logits.shape[-1]))
        places = torch.multinomial(likely.values.softmax(-1), 1, generator=chance)
        return likely.indices.gather(1, places)[:, 0].to(logits.device)

    made = model.draw(caption.expand(_DRAWN, -1), codes, choose)
    words = tokenizer.decode(caption.tolist())[:_LONGEST]
    return Demonstration("drawn_pictures", (Span(words),), table(of_codes(made.cpu(), codebook), _DRAWN))


def of_codes(codes: torch.Tensor, codebook: bytes) -> torch.Tensor:
    """Pictures (count, 3, side, side) of 0 to 1 of the codes (count, codes of each), row by row."""
    from PIL import Image  # as below

    with Image.open(BytesIO(codebook), formats=("PNG",)) as image:
        strip = torch.frombuffer(bytearray(image.convert("RGB").tobytes()), dtype=torch.uint8)
        patches = strip.view(-1, image.width, image.width, 3).permute(0, 3, 1, 2) / 255
    side = round(codes.shape[1] ** 0.5)
    rows = patches[codes].unflatten(1, (side, side))
    small = rows.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)
    return torch.nn.functional.interpolate(small, scale_factor=max(1, _LEAST_SIDE // small.shape[-1]))


def table(pictures: torch.Tensor, columns: int) -> bytes:
    """A PNG of pictures (count, 3, side, side) of 0 to 1, in rows, with transparent edges between them. Pictures that
    could not be sent otherwise are made smaller."""
    from PIL import Image  # with its codecs, only where there are pictures

    step = pictures.shape[-1] + _EDGE
    whole = Image.new("RGBA", (columns * step - _EDGE, len(pictures) // columns * step - _EDGE))
    for number, picture in enumerate((pictures.clamp(0, 1) * 255).byte().permute(0, 2, 3, 1)):
        content = Image.frombytes("RGB", (pictures.shape[-1],) * 2, picture.contiguous().numpy().tobytes())
        whole.paste(content, (number % columns * step, number // columns * step))
    file = BytesIO()
    whole.save(file, "PNG", optimize=True)
    if file.tell() > LARGEST_PICTURE:
        half = torch.nn.functional.interpolate(pictures, scale_factor=0.5, mode="bilinear", antialias=True)
        return table(half, columns)
    return file.getvalue()


def _between(tokenizer: Tokenizer, tokens: Sequence[int], begin: int, end: int) -> str:
    """The text of some tokens as it is within the whole: decoders treat the first token of a text differently."""
    start = len(tokenizer.decode(list(tokens[:begin])))
    return str(tokenizer.decode(list(tokens[:end]))[start : start + _LONGEST])


def _guess(tokenizer: Tokenizer, right: Sequence[int], place: int, guess: int) -> Span:
    made = _between(tokenizer, [*right[:place], guess], place, place + 1)
    wanted = _between(tokenizer, right, place, place + 1)
    return Span(_visible(made), is_made=True, right=None if guess == right[place] else _visible(wanted))


def _visible(text: str) -> str:
    """Some tokens are a space, or no text at all."""
    return text if text.strip() else "␣"

"""Text to image: samples, the loss, what each layer sees, and what is drawn."""

from collections.abc import Iterator
from io import BytesIO
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from PIL import Image

from core.api.errors import ManifestError
from core.api.project.demonstration import Span
from core.learning.data.captioned_codes import CaptionedCodes
from core.learning.model import build_model, count_parameters
from core.learning.order import Order, Samples, compute_again
from core.learning.tasks import task_for
from core.learning.tasks.demonstrations import of_codes
from tests.learning.tasks.small_text_to_image import COLOURS, codebook, made, manifest
from tests.learning.tasks.words import tokenizer_file


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Several would wait for each other in such small layers."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def random_samples(count: int) -> list[CaptionedCodes]:
    chance = Random(0)
    return [
        CaptionedCodes(f"w{chance.randrange(95)} w{chance.randrange(95)}", tuple(chance.choices(range(16), k=16)))
        for _ in range(count)
    ]


def inputs(count: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(5, 100, (count, 6), generator=generator), torch.randint(16, (count, 16), generator=generator)


def test_captions_are_cut_or_padded_and_codes_stay_as_they_are(tmp_path: Path) -> None:
    task, _ = made(tmp_path)
    codes = tuple(range(16))
    samples = [CaptionedCodes("w0 w1", codes), CaptionedCodes("w2 w3 w4 w5 w6 w7 w8", codes)]
    [batch] = task.batches(samples, 4, seed=0)
    assert batch["captions"].tolist() == [[5, 6, 0, 0, 0, 0], [7, 8, 9, 10, 11, 12]]
    assert batch["codes"].tolist() == [list(codes)] * 2


def test_samples_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    task, _ = made(tmp_path)
    good = CaptionedCodes("w0", (3,) * 16)
    wrong = [CaptionedCodes("w0", (3,) * 15), CaptionedCodes("w0", (16,) * 16), CaptionedCodes(" ", (3,) * 16)]
    [batch] = task.batches([*wrong, good, *wrong], 4, seed=0)
    assert batch["codes"].tolist() == [[3] * 16]


@pytest.mark.parametrize("samples", [[], [CaptionedCodes("w0", (1, 2))], cycle([CaptionedCodes("w0", (1, 2))])])
def test_data_of_which_nothing_fits_are_refused(tmp_path: Path, samples: Any) -> None:
    task, _ = made(tmp_path)
    with pytest.raises(ManifestError, match="codes_do_not_fit codes=16 kinds=16") as raised:
        next(task.batches(samples, 4, seed=0))
    assert raised.value.field == "$.data"


def test_the_loss_is_the_weighted_cross_entropy_of_caption_and_codes(tmp_path: Path) -> None:
    task, model = made(tmp_path, image_weight=3.0)
    captions, codes = inputs()
    captions[0, 4:] = 0  # padding is not learned
    model.eval()
    with torch.no_grad():
        loss = task.loss(model, {"captions": captions, "codes": codes})
        chances = torch.log_softmax(text_logits(model, captions), -1)
        words = [-chances[row, place, captions[row, place]] for row in range(3) for place in range(6 if row else 4)]
        drawn = torch.log_softmax(model(captions, codes).image_logits, -1)
        pictures = [-drawn[row, place, codes[row, place]] for row in range(3) for place in range(16)]
    wanted = (torch.stack(words).mean() + 3 * torch.stack(pictures).mean()) / 4
    assert float(loss) == pytest.approx(float(wanted), rel=1e-5)


def text_logits(model: Any, captions: torch.Tensor) -> torch.Tensor:
    """Each from the tokens before it alone: whatever follows must not matter."""
    seen = []
    for place in range(captions.shape[1]):
        hidden = captions.clone()
        hidden[:, place:] = 99
        states: list[torch.Tensor] = []
        hook = model.norm.register_forward_hook(lambda _module, _inputs, output, states=states: states.append(output))
        model(hidden, torch.zeros(len(captions), 16, dtype=torch.long))
        hook.remove()
        seen.append(states[0][:, place] @ model.text_embedding.weight.T)
    return torch.stack(seen, 1)


@pytest.mark.parametrize("attention", ["full", "row", "column", "local"])
def test_a_code_depends_on_the_caption_and_on_those_that_its_attention_sees(tmp_path: Path, attention: str) -> None:
    _, model = made(tmp_path, attention=[attention], num_hidden_layers=1, num_hidden_groups=1)
    captions, codes = inputs(1)
    model.eval()
    with torch.no_grad():
        before = model(captions, codes).image_logits[0]
        for changed in range(16):
            other = codes.clone()
            other[0, changed] = (other[0, changed] + 1) % 16
            moved = (model(captions, other).image_logits[0] - before).abs().amax(-1) > 1e-6
            # The prediction of a code is made where the one before it is.
            assert {place for place in range(16) if moved[place]} == {
                place + 1 for place in range(changed, 15) if sees(attention, place, changed)
            }
        words = captions.clone()
        words[0, 0] = 4
        assert ((model(words, codes).image_logits[0] - before).abs().amax(-1) > 1e-6).all()


def sees(attention: str, place: int, other: int) -> bool:
    down, across = place // 4 - other // 4, abs(place % 4 - other % 4)
    return {"full": True, "row": down == 0, "column": across == 0, "local": down <= 2 and across <= 2}[attention]


def test_layers_take_turns_with_the_same_parameters() -> None:
    few, many, more = (
        count_parameters(build_model(manifest(num_hidden_layers=depth, last_attention=last)))
        for depth, last in ((4, None), (40, None), (4, "local"))
    )
    assert few == many
    assert more > few, "a last layer of its own"


def test_what_is_drawn_is_what_the_model_finds_most_likely(tmp_path: Path) -> None:
    _, model = made(tmp_path, attention=["row", "full", "column"], last_attention="local")
    captions, _ = inputs()
    model.eval()
    codes = model.draw(captions, 16, lambda logits: logits.argmax(-1))
    assert torch.equal(codes, model(captions, codes).image_logits.argmax(-1))


def test_gradients_are_the_same_with_checkpoints(tmp_path: Path) -> None:
    task, model = made(tmp_path)
    captions, codes = inputs()
    gradients = []
    for _ in range(2):
        model.zero_grad()
        task.loss(model, {"captions": captions, "codes": codes}).backward()
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))
        model.activation_checkpointing_enable()
    assert torch.allclose(gradients[0], gradients[1], atol=1e-7)


def test_evaluation_repeats_itself_and_shows_pictures_with_their_caption(tmp_path: Path) -> None:
    task, model = made(tmp_path)
    samples = random_samples(40)
    first = task.evaluate(model, samples)
    assert first == task.evaluate(model, samples)
    assert (first.figure.kind, first.others[0].kind) == ("image_code_accuracy", "image_code_loss")
    shown = first.demonstration
    assert shown is not None
    assert shown.picture is not None
    assert shown.spans == (Span(samples[0].caption),)
    with Image.open(BytesIO(shown.picture)) as image:
        found: Any = image.convert("RGBA").getcolors(1 << 20)
    colours = {colour[:3] for _, colour in found if colour[3]}
    assert colours <= set(COLOURS)


def test_without_a_codebook_nothing_is_drawn(tmp_path: Path) -> None:
    declared = manifest({"codebook": None})
    model = build_model(declared)
    found = task_for(declared, model.config, tokenizer_file(tmp_path)).evaluate(model, random_samples(2))
    assert found.demonstration is None


def test_a_picture_has_the_square_of_each_code_at_its_place() -> None:
    picture = of_codes(torch.tensor([[0, 1, 2, 3]]), codebook())[0]
    side = picture.shape[-1] // 2
    corners = [picture[:, row * side, column * side] * 255 for row in range(2) for column in range(2)]
    assert [tuple(map(round, corner.tolist())) for corner in corners] == COLOURS[:4]


def captioned(captions: list[str]) -> Iterator[CaptionedCodes]:
    """Pictures that are all of the code of their first word; `captions` are said of them in turn."""
    chance, said = Random(0), cycle(captions)
    while True:
        word = chance.randrange(4)
        yield CaptionedCodes(next(said).format(word=word), (word,) * 8 + (word + 4,) * 8)


def test_a_model_learns_what_captions_say(tmp_path: Path) -> None:
    losses = []
    for captions in (["w{word}"], ["w0", "w1", "w2", "w3"]):
        task, model = made(tmp_path, num_hidden_layers=2)
        optimizer = torch.optim.AdamW(model.parameters(), 0.01)
        for batch in islice(task.batches(captioned(captions), 16, seed=0), 90):
            optimizer.zero_grad()
            task.loss(model, batch).backward()
            optimizer.step()
        held_out = list(islice(captioned(["w{word}"]), 64))
        losses.append(task.evaluate(model, held_out).others[0].value)
    told, ignoring = losses
    assert told < 0.03
    assert ignoring > 0.08, "ln 4 for the first of 16 codes, which says what the others are"


def test_anybody_computes_the_same_gradients_again(tmp_path: Path) -> None:
    task, model = made(tmp_path)
    samples = random_samples(64)

    def order() -> Order:
        return Order(task, lambda seed, _portion: cycle(Random(seed).sample(samples, 64)), 8, "run", b"peer")

    taken, total, pieces = Samples(order()), torch.zeros(count_parameters(model)), []
    for _ in range(3):
        piece, batch = taken.take(0, 8)
        pieces.append(piece)
        model.zero_grad()
        task.loss(model, batch).backward()
        total += torch.cat([parameter.grad.flatten() for parameter in model.parameters()]) / 3
    assert torch.allclose(compute_again(order(), model, pieces, lambda _epoch: None), total, atol=1e-7)

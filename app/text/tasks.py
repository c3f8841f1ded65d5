"""Learning tasks in words, and what they measure. One that is not known here is shown by its own name."""

from app.text.formats import numbers
from app.text.i18n import tr
from core.api.project.demonstration import Demonstration, Span
from core.api.project.projects import Figure


def task(name: str) -> str:
    """What is learned, by the task's name in a manifest."""
    words = {
        "masked_language_modelling": tr("predict masked tokens of a text"),
        "sentence_order_prediction": tr("predict masked tokens and the order of sentences"),
        "swav": tr("find groups of similar pictures, without labels"),
        "causal_language_modelling": tr("predict the next token of a text"),
        "text_to_image": tr("draw pictures from captions"),
    }
    return words.get(name, name.replace("_", " "))


def demonstration(shown: Demonstration) -> tuple[str, str]:
    """(what the model does, the text of it) of an example; the text is empty where a picture shows it."""
    does = {
        "continued_text": tr("In brackets: how it continues a text."),
        "filled_masks": tr("In brackets: the words that it puts where some are masked, and after ≠ the right ones."),
        "drawn_pictures": tr("Pictures that it draws for this caption."),
        "nearest_pictures": tr("In each row a picture, and beside it those that are the most similar to the model."),
    }.get(shown.kind, "")
    parts = [tr("Epoch {epoch}", epoch=numbers.count(shown.epoch))]
    if shown.figure:
        parts.append(figure(shown.figure))
    return f"{' · '.join(parts)}. {does}".strip(), " ".join("".join(map(_span, shown.spans)).split())


def _span(span: Span) -> str:
    if not span.is_made:
        return span.text
    right = "" if span.right is None else f" ≠ {span.right.strip()}"
    space = " " if span.text[:1].isspace() else ""
    return f"{space}[{span.text.strip()}{right}]"


def figure(measured: Figure) -> str:
    """A task's measure on held-out data, with its value."""
    match measured.kind:
        case "perplexity":
            return tr("perplexity {value}", value=numbers.figure(measured.value))
        case "probe_accuracy":
            return tr("{share} of the pictures recognised", share=numbers.percent(measured.value))
        case "image_code_accuracy":
            return tr("{share} of the picture codes right", share=numbers.percent(measured.value))
        case "masked_accuracy":
            return tr("{share} of the masked tokens right", share=numbers.percent(measured.value))
    return f"{measured.kind.replace('_', ' ')} {numbers.figure(measured.value)}"

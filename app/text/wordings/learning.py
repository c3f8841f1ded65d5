"""Tasks, models and data: what does not fit in a manifest."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "tokenizer_not_readable": tr("The tokenizer file cannot be read: {detail}."),
        "token_missing": tr("The tokenizer does not have the token {token}."),
        "vocabulary_too_large": tr("The tokenizer has {tokens:count} tokens, more than {most:count}."),
        "data_without_text": tr("The project's data holds no text."),
        "shard_not_readable": tr("The data shard {path} cannot be read: {detail}."),
    }

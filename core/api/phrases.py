"""Parts of sentences, marked where they are written: `python -m tests.translations` knows whole ones by themselves."""


def phrase(text: str) -> str:
    """`text` as it is. Written as a literal or an f-string, it is found and can be translated."""
    return text

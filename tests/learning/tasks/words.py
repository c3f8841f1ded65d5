"""A tokenizer and texts small enough to check by hand: one word, one token."""

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [f"w{number}" for number in range(95)]
TEXT = " ".join(WORDS * 40)


def tokenizer_file(folder: Path, special: list[str] = SPECIAL) -> Path:
    """A tokenizer of the special tokens and then the words, 100 in all."""
    tokenizer = Tokenizer(
        WordLevel({word: number for number, word in enumerate(special + WORDS)}, unk_token=special[1])
    )
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(special)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path

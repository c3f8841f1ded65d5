"""Make tokenizer.json from the practice texts: byte-level BPE with 2,000 tokens. Run it again after changing a text.

Source: Sennrich et al. 2016 (byte pair encoding), Radford et al. 2019 (on bytes, so that no text is unknown).
"""

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer

FOLDER = Path(__file__).parent
TOKENS = 2000
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make(texts: list[Path]) -> Tokenizer:
    """A tokenizer trained on `texts`; the same texts make the same tokenizer."""
    tokenizer = Tokenizer(BPE(unk_token="[UNK]"))  # noqa: S106 - a token of text, not a secret
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    alphabet = sorted(ByteLevel.alphabet())
    trainer = BpeTrainer(vocab_size=TOKENS, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train([str(text) for text in texts], trainer)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokenizer


if __name__ == "__main__":
    make(sorted(FOLDER.glob("train-*.txt"))).save(str(FOLDER / "tokenizer.json"))

"""Make sahajBERT's tokenizer from texts: a Unigram model of the words of Bengali, after Unicode normalisation.

    .venv/bin/python resources/projects/sahajbert/make_tokenizer.py --tokens 32000 tokenizer.json wikipedia-*.jsonl

Normalisation and the division into words are those of the published tokenizer (Diskin et al. 2021). A file that ends in
.jsonl has one JSON object a line, with the text in its field `text`; others are plain text. Two runs on the same texts
may differ in some rare tokens, so a run has one tokenizer file. A part of the texts is enough: they stay in memory.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Metaspace as MetaspaceDecoder
from tokenizers.models import Unigram
from tokenizers.normalizers import NFKC, Lowercase, Nmt, Replace
from tokenizers.normalizers import Sequence as Normalizers
from tokenizers.pre_tokenizers import Digits, Metaspace, Punctuation
from tokenizers.pre_tokenizers import Sequence as PreTokenizers
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import UnigramTrainer

SPECIAL = ["[PAD]", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
DANDA, DOUBLE_DANDA, VISARGA = "\u0964", "\u0965", "\u0983"
"""Full stop, end of a verse, and the sign for which a colon is often typed."""


def make(texts: Sequence[Path], tokens: int) -> Tokenizer:
    """A tokenizer of at most so many tokens."""
    tokenizer = Tokenizer(Unigram())
    tokenizer.normalizer = Normalizers(
        [
            Nmt(),
            NFKC(),
            Replace(Regex(" {2,}"), " "),
            # Characters that stand for the danda: those of other scripts, the bar, and the currency sign.
            Replace("\u09e4", DANDA),
            Replace("\u09e5", DOUBLE_DANDA),
            Replace("|", DANDA),
            Replace("\u09f7", DANDA),
            Replace(Regex(r"(?<=[\u0980-\u09ff]):"), VISARGA),
            Lowercase(),
        ]
    )
    tokenizer.pre_tokenizer = PreTokenizers([Metaspace(), Digits(individual_digits=True), Punctuation()])
    tokenizer.decoder = MetaspaceDecoder()
    unknown = SPECIAL[1]
    trainer = UnigramTrainer(vocab_size=tokens, special_tokens=SPECIAL, unk_token=unknown, show_progress=False)
    tokenizer.train_from_iterator(lines(texts), trainer)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return tokenizer


def lines(texts: Sequence[Path]) -> Iterator[str]:
    for path in texts:
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)["text"] if path.suffix == ".jsonl" else line


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=32_000)
    parser.add_argument("tokenizer", type=Path, help="the file to write")
    parser.add_argument("texts", type=Path, nargs="+")
    chosen = parser.parse_args()
    make(chosen.texts, chosen.tokens).save(str(chosen.tokenizer))

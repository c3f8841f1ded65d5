"""A manifest for tests: the smallest project that is complete."""

from typing import Any

import msgspec

from core.api.project.data import TextData
from core.api.project.fields import File
from core.api.project.manifest import Manifest, Model, Optimizer, Training
from core.api.project.tasks import CausalLanguageModelling, MaskedLanguageModelling


def small_manifest(sequence_length: int = 16, vocabulary: int = 100, **config: Any) -> Manifest:
    """One whose files are never fetched."""
    file = File(url="http://127.0.0.1:9/nothing", sha256="0" * 64, size=1)
    return Manifest(
        format=1,
        id="small",
        name="Small",
        summary="For tests.",
        organiser="Tests",
        license="CC0-1.0",
        run_id="small",
        model=Model(
            "AlbertForMaskedLM",
            {
                "vocab_size": vocabulary,
                "embedding_size": 16,
                "hidden_size": 32,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "intermediate_size": 64,
                "max_position_embeddings": sequence_length,
                **config,
            },
        ),
        tokenizer=file,
        task=MaskedLanguageModelling(sequence_length),
        data=TextData((file,)),
        training=Training(target_batch_size=64, microbatch_size=8, optimizer=Optimizer("lamb", 0.01)),
        initial_peers=("/ip4/127.0.0.1/tcp/9/p2p/QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N",),
    )


def small_causal_manifest(sequence_length: int = 16, vocabulary: int = 100, **config: Any) -> Manifest:
    """The same with a small GPT-2 that predicts the next token."""
    sizes = {"vocab_size": vocabulary, "n_positions": sequence_length, "n_embd": 32, "n_layer": 2, "n_head": 2}
    return msgspec.structs.replace(
        small_manifest(),
        model=Model("GPT2LMHeadModel", {**sizes, **config}),
        task=CausalLanguageModelling(sequence_length),
    )

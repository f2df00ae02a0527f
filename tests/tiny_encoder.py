"""A BERT of a few thousand random weights with a vocabulary of its own, written as Hugging Face writes one."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import torch

_TEXT = """[PAD] [UNK] [CLS] [SEP] [MASK] the a . , was is good dull film act ##ing ##s plot poor fine un ##known and
not lovely garden room meal song cat dog run ##ning sleep who where lake it ##ed"""
PIECES = _TEXT.split()
ID = {piece: number for number, piece in enumerate(PIECES)}
LIMIT = 30
"""Pieces of a text; with the two special tokens the encoder has 32 places."""


def ids(*pieces: str) -> tuple[int, ...]:
    """Return the ids of pieces."""
    return tuple(ID[piece] for piece in pieces)


def write_encoder(folder: Path, *, width: int = 12, layers: int = 2, seed: int = 0) -> Path:
    """Write the encoder; the same seed writes the same weights."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    config = BertConfig(
        vocab_size=len(PIECES),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=LIMIT + 2,
        initializer_range=0.3,  # far from zero, so that what a token sees shows in its state
    )
    with torch.random.fork_rng(devices=[]), contextlib.redirect_stderr(io.StringIO()):
        torch.manual_seed(seed)
        BertModel(config).save_pretrained(folder)
        BertTokenizerFast(vocab=ID).save_pretrained(folder)
    return folder

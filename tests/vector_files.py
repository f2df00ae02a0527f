"""Small files of vectors in every format, written byte by byte as the formats say."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

WORDS = ("the", "</s>", "naïve", "where", "a")


def fasttext_file(words: Sequence[str], rows, *, bucket: int, minn: int, maxn: int, **changed: int) -> bytes:
    """Return a fastText binary file of version 12; single fields may be changed by name."""
    count = len(words)
    facts = {
        "version": 12,
        "dim": rows.shape[1],
        "buckets": bucket,
        "longest": maxn,
        "size": count,
        "nwords": count,
    }
    facts |= {
        "nlabels": 0,
        "pruned": -1,
        "quantized": 0,
        "count": len(rows),
        "columns": rows.shape[1],
        **changed,
    }
    settings = [facts["dim"], 5, 1, 1, 5, 1, 2, 2, facts["buckets"], minn, facts["longest"], 100]
    content = struct.pack("<2i12id", 793712314, facts["version"], *settings, 1e-4)
    content += struct.pack("<3i2q", facts["size"], facts["nwords"], facts["nlabels"], 99, facts["pruned"])
    content += b"".join(word.encode() + b"\0" + struct.pack("<qb", 3, 0) for word in words)
    content += struct.pack("<b2q", facts["quantized"], facts["count"], facts["columns"])
    return content + rows.astype("<f4").tobytes() + b"\0" + struct.pack("<2q", 0, rows.shape[1])


def word2vec_file(words: Sequence[str], rows, line_feed: bytes = b"\n") -> bytes:
    """Return a word2vec binary file."""
    header = f"{len(words)} {rows.shape[1]}\n".encode()
    pairs = zip(words, rows, strict=True)
    return header + b"".join(
        word.encode() + b" " + row.astype("<f4").tobytes() + line_feed for word, row in pairs
    )


def floret_file(rows, *, shortest: int, longest: int, hashes: int, seed: int) -> bytes:
    """Return a text file of floret."""
    lines = [f"{len(rows)} {rows.shape[1]} {shortest} {longest} {hashes} {seed} < >"]
    lines += [" ".join([str(number), *map(str, row.tolist())]) for number, row in enumerate(rows)]
    return ("\n".join(lines) + "\n").encode()


def model2vec_folder(folder: Path):
    """Write a model2vec folder of six pieces; return their rows."""
    folder.mkdir()
    pieces = {"[UNK]": 0, "[PAD]": 1, "good": 2, "film": 3, "##s": 4, ".": 5}
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": pieces}
    tokenizer = {
        **dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder")),
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {**model, "max_input_chars_per_word": 100},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    rows = np.random.default_rng(1).normal(size=(len(pieces), 2)).astype(np.float32)
    save_file({"embeddings": rows}, folder / "model.safetensors")
    return rows

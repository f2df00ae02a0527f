"""Compute the vector of every collected sentence with the teacher, block after block.

    python packages/heedful-en/making/embed_sentences.py OUT TEACHER [--worker 0 --workers 2] [--bfloat16]

OUT has the blocks of sentences that `collect_sentences.py` wrote. TEACHER is a folder of sentence-transformers. Each
block of sentences gets a file of vectors [N, 384] in float16 beside it. A block that has its file is not read again, so
an interrupted run continues where it was, and several workers share the blocks. With `--bfloat16` the products are
computed in bfloat16, which is about twice as fast where the processor has it (AVX-512 BF16 or AMX) and slow elsewhere;
the vectors' mean cosine to those in float32 is .99997.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

BATCH_TOKENS = 1024
"""Word pieces that are computed together; more does not fit into the processor's cache."""


class Teacher:
    """The mean of the last states over the word pieces, scaled to unit length."""

    def __init__(self, folder: Path, *, bfloat16: bool = False) -> None:
        self.bfloat16 = bfloat16
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.network = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()

    @torch.inference_mode()
    def encode(self, texts: list[str]) -> NDArray[np.float16]:
        """Return the vectors of texts, [N, 384]."""
        ids = self.tokenizer(texts, truncation=True, max_length=256)["input_ids"]
        order = np.argsort([len(row) for row in ids], kind="stable")
        found = np.zeros((len(texts), self.network.config.hidden_size), np.float16)
        start = 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and len(ids[order[stop]]) * (stop - start + 1) <= BATCH_TOKENS:
                stop += 1
            rows = order[start:stop]
            batch = self.tokenizer.pad({"input_ids": [ids[row] for row in rows]}, return_tensors="pt")
            with torch.autocast("cpu", torch.bfloat16, enabled=self.bfloat16):
                states = self.network(**batch).last_hidden_state.float()
            valid = batch["attention_mask"][..., None].float()
            means = (states * valid).sum(1) / valid.sum(1)
            found[rows] = functional.normalize(means, dim=-1).numpy().astype(np.float16)
            start = stop
        return found


def main() -> None:
    """Read the command line and embed the blocks of one worker."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("out", type=Path)
    options.add_argument("teacher", type=Path)
    options.add_argument("--worker", type=int, default=0)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--bfloat16", action="store_true")
    given = options.parse_args()
    torch.set_num_threads(1)
    teacher = Teacher(given.teacher, bfloat16=given.bfloat16)
    blocks = sorted(given.out.glob("sentences-*.txt"))
    for block in blocks[given.worker :: given.workers]:
        target = block.with_suffix(".npy")
        if target.exists():
            continue
        began = time.perf_counter()
        texts = block.read_text(encoding="utf-8").split("\n")[:-1]
        vectors = teacher.encode(texts)
        partial = target.with_suffix(f".partial{given.worker}")
        with partial.open("wb") as stream:
            np.save(stream, vectors)
        os.replace(partial, target)
        seconds = time.perf_counter() - began
        print(f"{block.name}: {len(texts):,} sentences, {len(texts) / seconds:.0f} a second", flush=True)


if __name__ == "__main__":
    main()

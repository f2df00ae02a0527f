"""Good folders that keep more than a network, and what may be wrong in each thing that they keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from heedful import LabelColumnsClassifier, TextClassifier
from heedful.storage.model_folder import load_model_folder

KEPT, COLUMNS, SEVERAL = "kept", "columns", "label columns"
"""Sums, examples, scores and when no class fits; columns beside the text; several label columns."""

TABLES: dict[str, tuple[str, ...]] = {
    KEPT: (
        *("reject", "sums", "examples", "wide", "sentence"),
        *(f"reject.{name}" for name in ("label", "keep", "weights", "means", "deviations", "known")),
        *("reject.threshold", "reject.fitted", "sums.features"),
        *(f"examples.{name}" for name in ("count", "texts", "network", "weights")),
    ),
    COLUMNS: ("columns", "columns.weight", "columns.columns"),
    SEVERAL: ("run.data.options", "temperature"),
}
"""Of the base, the places of config.json."""

SHAPES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "half": lambda t: t[: len(t) // 2].clone(),
    "twice": lambda t: torch.cat([t, t]),
    "empty": lambda t: t[:0].clone(),
    "other numbers": lambda t: t.to(torch.float64) if t.dtype != torch.float64 else t.to(torch.float32),
}
"""What may become of a tensor that is kept."""


def write_keeping(folder: Path) -> None:
    """Write the good folders."""
    rows = [
        (how, what, k) for how in ("dull", "superb") for what in ("film", "rook", "soup") for k in range(8)
    ]
    texts = [f"{how} {what} number {k} ." for how, what, k in rows]
    vectors = folder.with_name("vectors.txt")
    words = ("dull", "superb", "film", "rook", "soup", "number", ".")
    vectors.write_text("".join(f"{word} {n} {n % 3} {-n}\n" for n, word in enumerate(words, 1)))
    plain: dict[str, Any] = {"text__vectors": str(vectors), "model__sentence": "mean", "model__width": 3}
    kept = TextClassifier(
        **plain,
        data__few_rows=1000,
        keep_examples="texts",
        data__keep_share=0.5,
        model__task_options={"reject": 0.9},
    )
    kept.fit(texts, [what for _, what, _ in rows], baseline=False).save_pretrained(folder / KEPT)
    none: dict[str, Any] = {"text__vectors": "", "model__sentence": "none"}
    table = [{"text": text, "price": float(k)} for text, (_, _, k) in zip(texts, rows, strict=True)]
    beside = TextClassifier(**none, text="text", features=["price"])
    beside.fit(table, ["dear" if k > 3 else "cheap" for *_, k in rows], baseline=False)
    beside.save_pretrained(folder / COLUMNS)
    several = LabelColumnsClassifier(**none)
    several.fit(texts, [{"mood": how, "what": what} for how, what, _ in rows], baseline=False)
    several.save_pretrained(folder / SEVERAL)


def kept_tensors(folder: Path) -> list[str]:
    """Return the names of the tensors that the first of these folders keeps beside its parts."""
    names = load_model_folder(folder / KEPT).state
    return sorted(name for name in names if name.startswith(("sums.", "examples.", "familiar.")))


KEPT_TENSORS = (
    *("examples.codes", "examples.ends", "examples.gold", "examples.rows", "examples.texts"),
    *("familiar.centers", "familiar.words"),
    *("sums.classes", "sums.counts", "sums.losses", "sums.numbers", "sums.places", "sums.spreads"),
    *("sums.together", "sums.totals"),
)
"""Their names, which a trial compares."""
MAY_BE_FEWER = ("familiar.centers", "familiar.words", "sums.losses")
"""Those of which nothing says how many numbers there are; learning on looks at the last one."""

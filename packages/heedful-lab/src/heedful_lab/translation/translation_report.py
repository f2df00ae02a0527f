"""The report on translations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation import Report
from heedful.evaluation.metrics import NAMES, length_bins
from heedful.evaluation.report_text import Groups
from heedful_lab.translation.bleu import bleu_of_copies, pack_translations, translation_metrics


def evaluate_translations(
    references: Sequence[str],
    translations: Sequence[str],
    *,
    perplexity: float,
    lengths: NDArray[np.int64] | None = None,
    seconds: float = 0.0,
    notes: dict[str, int] | None = None,
) -> Report:
    """Report on translations.

    Args:
        references: one a translation.
        translations: what the model said.
        perplexity: of the references' subwords under the model.
        lengths: subwords of each source, [N, 1]; None leaves BLEU by length out.
        seconds: time the translations took.
        notes: counts to print below the figures.

    Returns:
        The report; its single answers are counts and hold no text.
    """
    metrics, signatures = translation_metrics(references, translations)
    metrics["perplexity"] = perplexity
    gold, answered = pack_translations(references, translations)
    return Report(
        len(references),
        metrics,
        seconds=seconds,
        notes=notes or {},
        gold=gold,
        predicted=answered,
        by_length={} if lengths is None else _by_length(gold, answered, length_bins(lengths)),
        statistics={"bleu": bleu_of_copies},
        signatures=signatures,
    )


def _by_length(gold: NDArray[np.int64], answered: NDArray[np.int64], bins: Sequence[str]) -> Groups:
    names = [name for name in NAMES if name in bins]
    members = np.array([[own == name for own in bins] for name in names], np.float64)
    scores = bleu_of_copies(gold, answered, members)
    return {
        name: {"bleu": float(score), "count": int(row.sum())}
        for name, score, row in zip(names, scores, members, strict=True)
    }

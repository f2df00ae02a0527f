"""The report on translations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heedful.evaluation.bleu import bleu_of_copies, translation_metrics
from heedful.evaluation.report import Report


def evaluate_translations(
    references: Sequence[str],
    translations: Sequence[str],
    *,
    perplexity: float,
    seconds: float = 0.0,
    notes: dict[str, int] | None = None,
) -> Report:
    """Report on translations.

    Args:
        references: one a translation.
        translations: what the model said.
        perplexity: of the references' subwords under the model.
        seconds: time the translations took.
        notes: counts to print below the figures.

    Returns:
        The report.
    """
    metrics, signatures = translation_metrics(references, translations)
    metrics["perplexity"] = perplexity
    return Report(
        len(references),
        metrics,
        seconds=seconds,
        notes=notes or {},
        gold=np.array(references),
        predicted=np.array(translations),
        statistics={"bleu": bleu_of_copies},
        signatures=signatures,
    )

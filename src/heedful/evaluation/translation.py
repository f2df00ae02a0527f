"""The report on translations."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.evaluation.bleu import bleu_of_copies, pack_translations, translation_metrics
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
        statistics={"bleu": bleu_of_copies},
        signatures=signatures,
    )

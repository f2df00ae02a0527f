"""BLEU and chrF, counted by sacreBLEU.

sacreBLEU (Post, 2018) is the field's own implementation: it cuts into words itself, so that figures of different models
compare, and its signature says how.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import MissingExtraError, UsageError


def translation_metrics(
    references: Sequence[str], translations: Sequence[str]
) -> tuple[dict[str, float], dict[str, str]]:
    """Score translations, one reference each.

    Args:
        references: as they stand in the file: neither tokenised nor lower-cased.
        translations: likewise.

    Returns:
        "bleu" and "chrf", from 0 to 100, and the signature of each.

    Raises:
        MissingExtraError: without the package sacrebleu.
        UsageError: if the numbers differ, or there are none.
    """
    if len(references) != len(translations) or not references:
        raise UsageError(
            f"there must be one reference a translation, and at least one; got {len(references)} references and "
            f"{len(translations)} translations"
        )
    package = _package()
    metrics, signatures = {}, {}
    for name, metric in (("bleu", package.BLEU()), ("chrf", package.CHRF())):
        metrics[name] = float(metric.corpus_score(list(translations), [list(references)]).score)
        signatures[name] = str(metric.get_signature())
    return metrics, signatures


def bleu_of_copies(
    gold: NDArray[Any], predicted: NDArray[Any], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return BLEU of many weighted copies of a test set at once; see `heedful.evaluation.statistics.Statistic`.

    BLEU is a function of sums over sentences: sacreBLEU counts each sentence once, and scores every weighted sum, as
    its own significance tests do.

    Args:
        gold: references, [N].
        predicted: translations, [N].
        weights: how often each sentence counts, [R, N].

    Returns:
        [R].
    """
    bleu = _package().BLEU()
    counts = np.array(bleu._extract_corpus_statistics(list(predicted), [list(gold)]), np.float64)
    sums = np.rint(weights @ counts).astype(np.int64)
    return np.array([bleu._compute_score_from_stats(row.tolist()).score for row in sums])


def _package() -> Any:
    try:
        return importlib.import_module("sacrebleu.metrics")
    except ImportError as error:
        raise MissingExtraError("sacrebleu", "translation", "Scoring translations") from error

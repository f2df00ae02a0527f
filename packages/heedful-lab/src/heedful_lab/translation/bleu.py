"""BLEU and chrF, counted by sacreBLEU.

sacreBLEU (Post, 2018) is the field's own implementation: it tokenizes by itself, so that figures of different models
can be compared, and its signature states the settings.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from heedful.errors import MissingExtraError, UsageError

_BITS = 12
_MOST = (1 << _BITS) - 1


def translation_metrics(
    references: Sequence[str], translations: Sequence[str]
) -> tuple[dict[str, float], dict[str, str]]:
    """Score translations, one reference each.

    Returns "bleu" and "chrf", from 0 to 100, and the signature of each. Raises MissingExtraError, without the package
    sacrebleu. Raises UsageError if the numbers differ, or there are none.
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


def pack_translations(
    references: Sequence[str], translations: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one number a sentence for reference and translation: what BLEU sums, and no words of either.

    Returns words of the reference, and words of the translation with its n-grams of 1 to 4 words that the reference
    has, twelve bits each; [N] each. Words are sacreBLEU's. Raises MissingExtraError, without the package sacrebleu.
    Raises UsageError if a sentence has more than 4,095 words.
    """
    counts = np.array(
        _package().BLEU()._extract_corpus_statistics(list(translations), [list(references)]), np.int64
    )
    if counts.max(initial=0) > _MOST:
        raise UsageError(f"a sentence has {counts.max():,} words, more than BLEU is kept of ({_MOST:,})")
    shown = counts[:, [0, 2, 3, 4, 5]]  # its words, and those n-grams that the reference has
    return counts[:, 1], (shown << _BITS * np.arange(5)).sum(axis=1)


def bleu_of_copies(
    gold: NDArray[np.int64], predicted: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return BLEU of many weighted copies of a test set at once; see `heedful.evaluation.statistics.Statistic`.

    BLEU is a function of sums over sentences, and sacreBLEU scores every weighted sum, as its own tests do.

    Args:
        gold: references as `pack_translations` gives them, [N].
        predicted: translations, likewise, [N].
        weights: how often each sentence counts, [R, N].

    Returns:
        [R].
    """
    bleu = _package().BLEU()
    words, *right = ((predicted >> _BITS * place) & _MOST for place in range(5))
    of_order = (
        np.maximum(words - order, 0) for order in range(4)
    )  # n-grams of a translation of so many words
    counts = np.stack([words, gold, *right, *of_order], axis=1).astype(np.float64)
    sums = np.rint(weights @ counts).astype(np.int64)
    return np.array([bleu._compute_score_from_stats(row.tolist()).score for row in sums])


def _package() -> ModuleType:
    try:
        return importlib.import_module("sacrebleu.metrics")
    except ImportError as error:
        raise MissingExtraError("sacrebleu", "translation", "Scoring translations") from error

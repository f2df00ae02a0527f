"""Translations against references: BLEU and chrF, counted by sacreBLEU, and its paired bootstrap.

sacreBLEU (Post, 2018) is the field's own implementation: it cuts into words itself, so that figures of different models
compare, and its signature says how.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import MissingExtraError, UsageError
from heedful.evaluation.report import Report


@dataclass(frozen=True)
class BootstrapComparison:
    """Whether one system is better than another on the same sentences (Koehn, 2004).

    Attributes:
        metric: what was compared, with sacreBLEU's signature.
        baseline: score of the baseline.
        system: score of the system.
        p_value: share of resamples in which the difference, centred, is at least the one found; small where chance
            hardly explains it.
        interval: half the width of the 95 % interval of the system's score.
        samples: number of resamples.
    """

    metric: str
    baseline: float
    system: float
    p_value: float
    interval: float
    samples: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)

    def render(self) -> str:
        """Return one line for a terminal."""
        return (
            f"BLEU {self.system:.2f} ± {self.interval:.2f} against {self.baseline:.2f}: difference "
            f"{self.system - self.baseline:+.2f}, p = {self.p_value:.4f} (paired bootstrap, {self.samples:,} resamples)"
        )


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
    _check(references, translations)
    package = _package()
    metrics, signatures = {}, {}
    for name, metric in (("bleu", package.BLEU()), ("chrf", package.CHRF())):
        metrics[name] = float(metric.corpus_score(list(translations), [list(references)]).score)
        signatures[name] = str(metric.get_signature())
    return metrics, signatures


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


def bleu_of_copies(
    gold: NDArray[Any], predicted: NDArray[Any], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return BLEU of many weighted copies of a test set at once; see `heedful.evaluation.statistics.Statistic`.

    BLEU is a function of sums over sentences: sacreBLEU counts each sentence once, and scores every weighted sum.

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


def compare_translations(
    references: Sequence[str], baseline: Sequence[str], system: Sequence[str], *, samples: int = 1000
) -> BootstrapComparison:
    """Test the difference in BLEU of two systems on the same sentences; sacreBLEU resamples, with its own fixed seed.

    Args:
        references: one a sentence.
        baseline: translations of one system.
        system: translations of the other.
        samples: number of resamples.

    Returns:
        Both scores and the p-value.

    Raises:
        MissingExtraError: without the package sacrebleu.
        UsageError: if the numbers differ, or there are none.
    """
    _check(references, baseline)
    _check(references, system)
    package, significance = _package(), importlib.import_module("sacrebleu.significance")
    named = [("baseline", list(baseline)), ("system", list(system))]
    bleu = package.BLEU(references=[list(references)])
    test = significance.PairedTest(named, {"BLEU": bleu}, None, test_type="bs", n_samples=samples)
    signatures, scores = test()
    first, second = scores["BLEU"]
    # Of two equal systems no resample differs by more than they do, which sacreBLEU takes for a sure difference.
    p_value = 1.0 if list(baseline) == list(system) else float(second.p_value)
    return BootstrapComparison(
        metric=str(signatures["BLEU"]),
        baseline=float(first.score),
        system=float(second.score),
        p_value=p_value,
        interval=float(second.ci),
        samples=samples,
    )


def _check(references: Sequence[str], translations: Sequence[str]) -> None:
    if len(references) != len(translations) or not references:
        raise UsageError(
            f"there must be one reference a translation, and at least one; got {len(references)} references and "
            f"{len(translations)} translations"
        )


def _package() -> Any:
    try:
        return importlib.import_module("sacrebleu.metrics")
    except ImportError as error:
        raise MissingExtraError("sacrebleu", "translation", "Scoring translations") from error

"""Calibration: whether confidences equal accuracies, and the temperature that corrects them (Guo et al., ICML 2017)."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 15
"""Bins of equal width, as in the paper."""
_BOUNDS = (0.05, 1_000.0)
"""Temperatures that are looked at."""


@dataclass(frozen=True)
class Bin:
    """The predictions whose confidence is in one bin, including its upper end.

    Attributes:
        low: lower end.
        high: upper end.
        count: number of answers.
        confidence: their mean confidence.
        accuracy: share of them that is right.
    """

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Reliability:
    """Confidence against accuracy.

    Attributes:
        ece: expected calibration error, ``Σ n_b / N · |accuracy_b - confidence_b|`` over the bins.
        nll: mean negative log-likelihood of gold, in nats; classes that the model does not know add nothing.
        bins: those of the `BINS` that are not empty.
    """

    ece: float
    nll: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class Calibration:
    """Reliability with and without the model's temperature.

    Attributes:
        temperature: what logits are divided by; 1 where none was fitted.
        before: at temperature 1.
        after: at the model's temperature.
    """

    temperature: float
    before: Reliability
    after: Reliability

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        parts = {"before": self.before, "after": self.after}
        return {
            "temperature": self.temperature,
            **{
                name: {"ece": part.ece, "nll": part.nll, "bins": [asdict(each) for each in part.bins]}
                for name, part in parts.items()
            },
        }


@dataclass(frozen=True)
class ConfidenceSums:
    """What `Reliability` needs of any number of examples; the sums of two parts of a file are added.

    Attributes:
        count: answers of each of the `BINS`, [BINS].
        confidence: sum of their confidences, [BINS].
        right: how many of them are right, [BINS].
        loss: sum of the negative log-likelihoods of gold.
    """

    count: NDArray[np.int64]
    confidence: NDArray[np.float64]
    right: NDArray[np.int64]
    loss: float

    def __add__(self, other: ConfidenceSums) -> ConfidenceSums:
        return ConfidenceSums(
            self.count + other.count,
            self.confidence + other.confidence,
            self.right + other.right,
            self.loss + other.loss,
        )

    def reliability(self) -> Reliability:
        """Return the means and shares that the sums stand for."""
        bins = tuple(self._bin(int(number)) for number in np.flatnonzero(self.count))
        gap = sum(part.count * abs(part.accuracy - part.confidence) for part in bins)
        examples = int(self.count.sum())
        return Reliability(gap / examples, self.loss / examples, bins)

    def _bin(self, number: int) -> Bin:
        count = int(self.count[number])
        confidence, accuracy = float(self.confidence[number]) / count, int(self.right[number]) / count
        return Bin(number / BINS, (number + 1) / BINS, count, confidence, accuracy)


@dataclass(frozen=True)
class CalibrationSums:
    """What `Calibration` needs of any number of examples; the sums of two parts of a file are added.

    Attributes:
        temperature: the model's.
        before: at temperature 1.
        after: at the model's temperature.
    """

    temperature: float
    before: ConfidenceSums
    after: ConfidenceSums

    def __add__(self, other: CalibrationSums) -> CalibrationSums:
        return CalibrationSums(self.temperature, self.before + other.before, self.after + other.after)

    def calibration(self) -> Calibration:
        """Return the figures that the sums stand for."""
        return Calibration(self.temperature, self.before.reliability(), self.after.reliability())


def calibration_sums(
    logits: NDArray[np.floating], gold: NDArray[np.int64], temperature: float
) -> CalibrationSums:
    """Sum up what `calibration` needs of some examples of many; see there for the arguments."""
    before = confidence_sums(logits, gold)
    after = (
        before if temperature == 1.0 else confidence_sums(np.asarray(logits, np.float64) / temperature, gold)
    )
    return CalibrationSums(temperature, before, after)


def calibration(logits: NDArray[np.floating], gold: NDArray[np.int64], temperature: float) -> Calibration:
    """Measure how far confidences are to be trusted.

    Args:
        logits: [N, Y].
        gold: class numbers, [N], N >= 1.
        temperature: the model's.

    Returns:
        The figures with and without it.
    """
    return calibration_sums(logits, gold, temperature).calibration()


def confidence_sums(logits: NDArray[np.floating], gold: NDArray[np.int64]) -> ConfidenceSums:
    """Sum up what `reliability` needs of some examples of many; see there for the arguments."""
    from scipy.special import log_softmax

    log_probabilities = log_softmax(np.asarray(logits, np.float64), axis=1)
    known = np.flatnonzero(
        gold < log_probabilities.shape[1]
    )  # a class that training did not have has no probability
    confidence, right = np.exp(log_probabilities.max(axis=1)), log_probabilities.argmax(axis=1) == gold
    place = np.clip(np.ceil(confidence * BINS).astype(int), 1, BINS) - 1
    return ConfidenceSums(
        np.bincount(place, minlength=BINS),
        np.array([confidence[place == number].sum() for number in range(BINS)]),
        np.bincount(place[right], minlength=BINS),
        -float(log_probabilities[known, gold[known]].sum()),
    )


def reliability(logits: NDArray[np.floating], gold: NDArray[np.int64]) -> Reliability:
    """Compare the probability of each answer with how often such answers are right.

    Args:
        logits: [N, Y].
        gold: class numbers, [N], N >= 1.

    Returns:
        The figures.
    """
    return confidence_sums(logits, gold).reliability()


def fit_temperature(
    logits: NDArray[np.floating], gold: NDArray[np.int64], weights: NDArray[np.floating] | None = None
) -> float:
    """Find the temperature under which gold is likeliest: ``argmin_T -Σ w log softmax(logits / T)[gold]``.

    The likelihood has one maximum in 1 / T. It orders the classes of an example as before, so that no answer changes.

    Args:
        logits: of examples that were not trained on, [N, Y].
        gold: class numbers, [N].
        weights: how much each example counts, [N]; None for all alike.

    Returns:
        The temperature, between 0.05 and 1,000; 1 where every answer is right or there are none, since any confidence
        would then be too small.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    wide = np.asarray(logits, np.float64)
    right = wide.argmax(axis=1) == gold
    if np.all(right if weights is None else right | (weights == 0)):
        return 1.0
    rows = np.arange(len(gold))

    def loss(log_temperature: float) -> float:
        found = log_softmax(wide / np.exp(log_temperature), axis=1)[rows, gold]
        return -float(found.mean() if weights is None else np.average(found, weights=weights))

    found = minimize_scalar(loss, bounds=np.log(_BOUNDS), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))
